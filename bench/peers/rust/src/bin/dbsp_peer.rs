//! Four queries of TPC-H in dbsp, in a runtime of one worker; its threads that merge
//! batches in the background count as well.
//!
//! Sums and counts are linear aggregates. Only Q17 folds over the lines of a part, since its threshold moves.

use std::collections::HashMap;

use anyhow::Result;
use dbsp::operator::Fold;
use dbsp::typed_batch::IndexedZSetReader;
use dbsp::utils::{Tup2, Tup3, Tup4, Tup5, Tup6, Tup7};
use dbsp::{DBSPHandle, OrdZSet, OutputHandle, RootCircuit, Runtime, Stream, ZSetHandle, ZWeight};
use peers::measure::{Arguments, Peer, measure};
use peers::stream::{CUT, Event, FIRST, LAST, Row, read, tables};

type Records<D> = Stream<RootCircuit, OrdZSet<D>>;
type Waiting<D> = Vec<Tup2<D, ZWeight>>;

type Region = Tup2<i64, String>;
type Nation = Tup3<i64, String, i64>;
type Supplier = Tup2<i64, i64>;
type Part = Tup3<i64, String, String>;
type Customer = Tup4<i64, String, i64, String>;
type Order = Tup5<i64, i64, i64, i64, i64>;
/// Order, part, supplier, quantity, price, discount, shipped.
type Line = Tup7<i64, i64, i64, i64, i64, i64, i64>;
/// A row of the result: two texts and numbers, which each query uses as it needs.
type Shown = Tup6<String, i64, i64, i64, i64, i64>;

struct Tables {
    region: Records<Region>,
    nation: Records<Nation>,
    supplier: Records<Supplier>,
    part: Records<Part>,
    customer: Records<Customer>,
    order: Records<Order>,
    line: Records<Line>,
}

struct Input<D: dbsp::DBData> {
    handle: ZSetHandle<D>,
    waiting: Waiting<D>,
}

impl<D: dbsp::DBData> Input<D> {
    fn add(&mut self, row: D, sign: i64) {
        self.waiting.push(Tup2(row, sign));
    }

    fn send(&mut self) {
        if !self.waiting.is_empty() {
            self.handle.append(&mut self.waiting);
        }
    }
}

struct Inputs {
    region: Input<Region>,
    nation: Input<Nation>,
    supplier: Input<Supplier>,
    part: Input<Part>,
    customer: Input<Customer>,
    order: Input<Order>,
    line: Input<Line>,
}

/// Price times (1 - discount), in units of 1/10,000, and one line.
fn revenue(price: i64, discount: i64) -> Tup2<i64, i64> {
    Tup2(price * (100 - discount), 1)
}

fn q3(t: &Tables) -> Records<Shown> {
    let building = t.customer.filter(|c| c.3 == "BUILDING").map_index(|c| (c.0, ()));
    let orders = t.order.filter(|o| o.3 < CUT).map_index(|o| (o.1, Tup3(o.0, o.3, o.4)));
    let orders = orders.join_index(&building, |_, o, ()| Some((o.0, Tup2(o.1, o.2))));
    let lines = t.line.filter(|l| l.6 > CUT).map_index(|l| (l.0, Tup2(l.4, l.5)));
    lines
        .join_index(&orders, |key, line, order| Some((Tup3(*key, order.0, order.1), line.clone())))
        .aggregate_linear(|line| revenue(line.0, line.1))
        .map(|(key, sum)| Tup6(String::new(), key.0, sum.0, key.1, key.2, 0))
}

fn q5(t: &Tables) -> Records<Shown> {
    let asia = t.region.filter(|r| r.1 == "ASIA").map_index(|r| (r.0, ()));
    let nations = t.nation.map_index(|n| (n.2, Tup2(n.0, n.1.clone())));
    let nations = nations.join_index(&asia, |_, n, ()| Some((n.0, n.1.clone())));
    let customers = t.customer.map_index(|c| (c.2, c.0));
    let customers = customers.join_index(&nations, |nation, customer, _| Some((*customer, *nation)));
    let orders = t.order.filter(|o| FIRST <= o.3 && o.3 < LAST).map_index(|o| (o.1, o.0));
    let orders = orders.join_index(&customers, |_, order, nation| Some((*order, *nation)));
    let lines = t.line.map_index(|l| (l.0, Tup3(l.2, l.4, l.5)));
    let lines = lines
        .join_index(&orders, |_, line, nation| Some((Tup2(line.0, *nation), Tup2(line.1, line.2))));
    let suppliers = t.supplier.map_index(|s| (s.clone(), ()));
    lines
        .join_index(&suppliers, |key, line, ()| Some((key.1, line.clone())))
        .join_index(&nations, |_, line, name| Some((name.clone(), line.clone())))
        .aggregate_linear(|line| revenue(line.0, line.1))
        .map(|(name, sum)| Tup6(name.clone(), sum.0, 0, 0, 0, 0))
}

/// The quantities and prices of the lines of one part.
type Lines = Vec<Tup3<i64, i64, ZWeight>>;

fn small_orders(lines: Lines) -> i64 {
    let count: i64 = lines.iter().map(|l| l.2).sum();
    let quantity: i64 = lines.iter().map(|l| l.0 * l.2).sum();
    let small = lines.iter().filter(|l| 5 * l.0 * count < quantity);
    small.map(|l| l.1 * l.2).sum()
}

fn q17(t: &Tables) -> Records<Shown> {
    let parts = t.part.filter(|p| p.1 == "Brand#23" && p.2 == "MED BOX").map_index(|p| (p.0, ()));
    let lines = t.line.map_index(|l| (l.1, Tup2(l.3, l.4)));
    let fold = <Fold<Tup2<i64, i64>, Lines, dbsp::algebra::UnimplementedSemigroup<Lines>, _, _>>::with_output(
        Lines::new(),
        |lines: &mut Lines, line: &Tup2<i64, i64>, n: ZWeight| lines.push(Tup3(line.0, line.1, n)),
        small_orders,
    );
    lines
        .join_index(&parts, |part, line, ()| Some((*part, line.clone())))
        .aggregate(fold)
        .map_index(|(_, price)| ((), *price))
        .aggregate_linear(|price| *price)
        .map(|((), price)| Tup6(String::new(), *price, 0, 0, 0, 0))
}

fn q18(t: &Tables) -> Records<Shown> {
    let large = t.line.map_index(|l| (l.0, l.3)).aggregate_linear(|quantity| *quantity);
    let large = large.filter(|(_, quantity)| *quantity > 30_000);
    let orders = t.order.map_index(|o| (o.0, Tup3(o.1, o.3, o.2)));
    let orders = orders.join_index(&large, |key, order, quantity| {
        Some((order.0, Tup4(*key, order.1, order.2, *quantity)))
    });
    let customers = t.customer.map_index(|c| (c.0, c.1.clone()));
    orders.join(&customers, |customer, order, name| {
        Tup6(name.clone(), *customer, order.0, order.1, order.2, order.3)
    })
}

/// The columns of the result that a query shows.
fn text(query: &str, row: &Shown) -> String {
    let Tup6(name, a, b, c, d, e) = row;
    match query {
        "Q3" => format!("{a}|{b}|{c}|{d}"),
        "Q5" => format!("{name}|{a}"),
        "Q17" => format!("{a}"),
        _ => format!("{name}|{a}|{b}|{c}|{d}|{e}"),
    }
}

struct Dbsp {
    circuit: DBSPHandle,
    inputs: Inputs,
    output: OutputHandle<OrdZSet<Shown>>,
    answer: HashMap<Shown, ZWeight>,
    query: String,
}

impl Peer for Dbsp {
    fn push(&mut self, event: Event) {
        let Event { row, sign } = event;
        let inputs = &mut self.inputs;
        match row {
            Row::Region { key, name } => inputs.region.add(Tup2(key, name), sign),
            Row::Nation { key, name, region } => inputs.nation.add(Tup3(key, name, region), sign),
            Row::Supplier { key, nation } => inputs.supplier.add(Tup2(key, nation), sign),
            Row::Part { key, brand, container } => inputs.part.add(Tup3(key, brand, container), sign),
            Row::Customer { key, name, nation, segment } => {
                inputs.customer.add(Tup4(key, name, nation, segment), sign)
            }
            Row::Order { key, customer, price, date, priority } => {
                inputs.order.add(Tup5(key, customer, price, date, priority), sign)
            }
            Row::Line { order, part, supplier, quantity, price, discount, shipped } => {
                inputs.line.add(Tup7(order, part, supplier, quantity, price, discount, shipped), sign)
            }
        }
    }

    fn step(&mut self) {
        self.inputs.region.send();
        self.inputs.nation.send();
        self.inputs.supplier.send();
        self.inputs.part.send();
        self.inputs.customer.send();
        self.inputs.order.send();
        self.inputs.line.send();
        self.circuit.transaction().expect("the circuit runs");
        for (row, (), change) in self.output.consolidate().iter() {
            let count = self.answer.entry(row.clone()).or_insert(0);
            *count += change;
            if *count == 0 {
                self.answer.remove(&row);
            }
        }
    }

    fn answer(&self) -> Vec<String> {
        assert!(self.answer.values().all(|n| *n == 1), "a row of the result is not there once");
        self.answer.keys().map(|row| text(&self.query, row)).collect()
    }
}

fn input<D: dbsp::DBData>(circuit: &mut RootCircuit) -> (Records<D>, Input<D>) {
    let (stream, handle) = circuit.add_input_zset::<D>();
    (stream, Input { handle, waiting: Vec::new() })
}

fn build(circuit: &mut RootCircuit, query: &str) -> Result<(Inputs, OutputHandle<OrdZSet<Shown>>)> {
    let (region, regions) = input(circuit);
    let (nation, nations) = input(circuit);
    let (supplier, suppliers) = input(circuit);
    let (part, parts) = input(circuit);
    let (customer, customers) = input(circuit);
    let (order, orders) = input(circuit);
    let (line, lines) = input(circuit);
    let t = Tables { region, nation, supplier, part, customer, order, line };
    let rows = match query {
        "Q3" => q3(&t),
        "Q5" => q5(&t),
        "Q17" => q17(&t),
        "Q18" => q18(&t),
        other => panic!("no query is called {other}"),
    };
    let inputs = Inputs {
        region: regions,
        nation: nations,
        supplier: suppliers,
        part: parts,
        customer: customers,
        order: orders,
        line: lines,
    };
    Ok((inputs, rows.output()))
}

fn main() -> Result<()> {
    let arguments = Arguments::read();
    let events = read(&arguments.stream, tables(&arguments.query));
    let query = arguments.query.clone();
    let named = query.clone();
    let (circuit, (inputs, output)) = Runtime::init_circuit(1, move |circuit| build(circuit, &named))?;
    let mut peer = Dbsp { circuit, inputs, output, answer: HashMap::new(), query };
    measure(&mut peer, events, &arguments);
    peer.circuit.kill().expect("the worker ends");
    Ok(())
}
