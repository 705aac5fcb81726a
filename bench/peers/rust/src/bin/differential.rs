//! Four queries of TPC-H in differential-dataflow, one worker.
//!
//! Sums and counts are kept in the difference of a record, as its book recommends: an update adds, and nothing is
//! recomputed. Only Q17 reduces over the lines of a part, since its threshold moves.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use differential_dataflow::input::InputSession;
use differential_dataflow::operators::CountTotal;
use differential_dataflow::{ExchangeData, VecCollection};
use peers::measure::{Arguments, Peer, measure};
use peers::stream::{CUT, Event, FIRST, LAST, Row, read, tables};
use timely::dataflow::operators::probe::Handle as Probe;
use timely::worker::Worker;

type Time = u64;
type Records<'scope, D> = VecCollection<'scope, Time, D, isize>;
type Session<D> = InputSession<Time, D, isize>;
type Answer = Rc<RefCell<HashMap<String, isize>>>;

type Region = (i64, String);
type Nation = (i64, String, i64);
type Supplier = (i64, i64);
type Part = (i64, String, String);
type Customer = (i64, String, i64, String);
type Order = (i64, i64, i64, i64, i64);
/// Order, part, supplier, quantity, price, discount, shipped.
type Line = (i64, i64, i64, i64, i64, i64, i64);

struct Inputs {
    region: Session<Region>,
    nation: Session<Nation>,
    supplier: Session<Supplier>,
    part: Session<Part>,
    customer: Session<Customer>,
    order: Session<Order>,
    line: Session<Line>,
}

impl Inputs {
    fn new() -> Self {
        Inputs {
            region: Session::new(),
            nation: Session::new(),
            supplier: Session::new(),
            part: Session::new(),
            customer: Session::new(),
            order: Session::new(),
            line: Session::new(),
        }
    }
}

struct Tables<'scope> {
    region: Records<'scope, Region>,
    nation: Records<'scope, Nation>,
    supplier: Records<'scope, Supplier>,
    part: Records<'scope, Part>,
    customer: Records<'scope, Customer>,
    order: Records<'scope, Order>,
    line: Records<'scope, Line>,
}

/// Price times (1 - discount), in units of 1/10,000, and one line.
fn revenue(line: &Line) -> (isize, isize) {
    ((line.4 * (100 - line.5)) as isize, 1)
}

fn q3<'scope>(t: Tables<'scope>) -> Records<'scope, String> {
    let building = t.customer.filter(|c| c.3 == "BUILDING").map(|c| c.0);
    let orders = t.order.filter(|o| o.3 < CUT).map(|o| (o.1, (o.0, o.3, o.4)));
    let orders = orders.semijoin(building).map(|(_, (key, date, priority))| (key, (date, priority)));
    let lines = t.line.filter(|l| l.6 > CUT).explode(|l| Some(((l.0, ()), revenue(&l))));
    lines
        .join_map(orders, |key, (), (date, priority)| (*key, *date, *priority))
        .count_total()
        .map(|((key, date, priority), (sum, _))| format!("{key}|{sum}|{date}|{priority}"))
}

fn q5<'scope>(t: Tables<'scope>) -> Records<'scope, String> {
    let asia = t.region.filter(|r| r.1 == "ASIA").map(|r| r.0);
    let nations = t.nation.map(|n| (n.2, (n.0, n.1))).semijoin(asia).map(|(_, nation)| nation);
    let customers = t.customer.map(|c| (c.2, c.0)).semijoin(nations.clone().map(|n| n.0));
    let customers = customers.map(|(nation, customer)| (customer, nation));
    let orders = t.order.filter(|o| FIRST <= o.3 && o.3 < LAST).map(|o| (o.1, o.0));
    let orders = orders.join_map(customers, |_, order, nation| (*order, *nation));
    let lines = t.line.explode(|l| Some(((l.0, l.2), revenue(&l))));
    let lines = lines.join_map(orders, |_, supplier, nation| ((*supplier, *nation), ()));
    lines
        .semijoin(t.supplier)
        .map(|((_, nation), ())| (nation, ()))
        .join_map(nations, |_, (), name| name.clone())
        .count_total()
        .map(|(name, (sum, _))| format!("{name}|{sum}"))
}

fn q17<'scope>(t: Tables<'scope>) -> Records<'scope, String> {
    let parts = t.part.filter(|p| p.1 == "Brand#23" && p.2 == "MED BOX").map(|p| p.0);
    t.line
        .map(|l| (l.1, (l.3, l.4)))
        .semijoin(parts)
        .reduce(|_, lines, output| {
            let count: i64 = lines.iter().map(|(_, n)| *n as i64).sum();
            let quantity: i64 = lines.iter().map(|((q, _), n)| q * *n as i64).sum();
            let small = lines.iter().filter(|((q, _), _)| 5 * q * count < quantity);
            let price: i64 = small.map(|((_, p), n)| p * *n as i64).sum();
            output.push((price, 1));
        })
        .explode(|(_, price)| Some(((), price as isize)))
        .count_total()
        .map(|((), price)| format!("{price}"))
}

fn q18<'scope>(t: Tables<'scope>) -> Records<'scope, String> {
    let large = t.line.explode(|l| Some((l.0, l.3 as isize))).count_total();
    let large = large.filter(|(_, quantity)| *quantity > 30_000);
    let orders = t.order.map(|o| (o.0, (o.1, o.3, o.2)));
    let orders = orders.join_map(large, |key, (customer, date, price), quantity| {
        (*customer, (*key, *date, *price, *quantity))
    });
    let customers = t.customer.map(|c| (c.0, c.1));
    orders.join_map(customers, |customer, (key, date, price, quantity), name| {
        format!("{name}|{customer}|{key}|{date}|{price}|{quantity}")
    })
}

struct Differential<'a> {
    worker: &'a mut Worker,
    inputs: Inputs,
    used: &'static [&'static str],
    probe: Probe<Time>,
    answer: Answer,
    time: Time,
}

fn advance<D: ExchangeData>(session: &mut Session<D>, time: Time) {
    session.advance_to(time);
    session.flush();
}

impl Differential<'_> {
    /// Moves the inputs on: those of tables that the query does not use are closed.
    fn advance(&mut self) {
        let time = self.time;
        for table in self.used {
            match *table {
                "region" => advance(&mut self.inputs.region, time),
                "nation" => advance(&mut self.inputs.nation, time),
                "supplier" => advance(&mut self.inputs.supplier, time),
                "part" => advance(&mut self.inputs.part, time),
                "customer" => advance(&mut self.inputs.customer, time),
                "orders" => advance(&mut self.inputs.order, time),
                _ => advance(&mut self.inputs.line, time),
            }
        }
    }
}

impl Peer for Differential<'_> {
    fn push(&mut self, event: Event) {
        let sign = event.sign as isize;
        let inputs = &mut self.inputs;
        match event.row {
            Row::Region { key, name } => inputs.region.update((key, name), sign),
            Row::Nation { key, name, region } => inputs.nation.update((key, name, region), sign),
            Row::Supplier { key, nation } => inputs.supplier.update((key, nation), sign),
            Row::Part { key, brand, container } => inputs.part.update((key, brand, container), sign),
            Row::Customer { key, name, nation, segment } => {
                inputs.customer.update((key, name, nation, segment), sign)
            }
            Row::Order { key, customer, price, date, priority } => {
                inputs.order.update((key, customer, price, date, priority), sign)
            }
            Row::Line { order, part, supplier, quantity, price, discount, shipped } => {
                inputs.line.update((order, part, supplier, quantity, price, discount, shipped), sign)
            }
        }
    }

    fn step(&mut self) {
        self.time += 1;
        self.advance();
        while self.probe.less_than(&self.time) {
            self.worker.step();
        }
    }

    fn answer(&self) -> Vec<String> {
        let answer = self.answer.borrow();
        assert!(answer.values().all(|n| *n == 1), "a row of the result is not there once");
        answer.keys().cloned().collect()
    }
}

fn start<'a>(worker: &'a mut Worker, query: &str) -> Differential<'a> {
    let answer = Answer::default();
    let mut probe = Probe::new();
    let mut inputs = Inputs::new();
    let kept = answer.clone();
    worker.dataflow::<Time, _, _>(|scope| {
        let t = Tables {
            region: inputs.region.to_collection(scope),
            nation: inputs.nation.to_collection(scope),
            supplier: inputs.supplier.to_collection(scope),
            part: inputs.part.to_collection(scope),
            customer: inputs.customer.to_collection(scope),
            order: inputs.order.to_collection(scope),
            line: inputs.line.to_collection(scope),
        };
        let rows = match query {
            "Q3" => q3(t),
            "Q5" => q5(t),
            "Q17" => q17(t),
            "Q18" => q18(t),
            other => panic!("no query is called {other}"),
        };
        let note = move |(row, _, change): &(String, Time, isize)| {
            let mut rows = kept.borrow_mut();
            let count = rows.entry(row.clone()).or_insert(0);
            *count += change;
            if *count == 0 {
                rows.remove(row);
            }
        };
        rows.inspect(note).probe_with(&mut probe);
    });
    let used = tables(query);
    Differential { worker, inputs, used, probe, answer, time: 0 }
}

fn main() {
    let arguments = Arguments::read();
    let events = read(&arguments.stream, tables(&arguments.query));
    timely::execute_directly(move |worker| {
        let mut peer = start(worker, &arguments.query);
        measure(&mut peer, events, &arguments);
    });
}
