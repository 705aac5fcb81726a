//! The events of the stream, in the types that a Rust program would use.
//!
//! A line of the file is `table|sign|columns`: only the columns that some query reads, money and quantities in hundredths, dates
//! as days since 1970.

use std::fs::File;
use std::io::{BufRead, BufReader};

pub enum Row {
    Region { key: i64, name: String },
    Nation { key: i64, name: String, region: i64 },
    Supplier { key: i64, nation: i64 },
    Part { key: i64, brand: String, container: String },
    Customer { key: i64, name: String, nation: i64, segment: String },
    Order { key: i64, customer: i64, price: i64, date: i64, priority: i64 },
    Line { order: i64, part: i64, supplier: i64, quantity: i64, price: i64, discount: i64, shipped: i64 },
}

pub struct Event {
    pub row: Row,
    pub sign: i64,
}

/// Reads the events of the tables named.
pub fn read(path: &str, tables: &[&str]) -> Vec<Event> {
    let file = BufReader::new(File::open(path).expect("the stream is there"));
    file.lines()
        .filter_map(|line| {
            let line = line.expect("a line of text");
            let fields: Vec<&str> = line.split('|').collect();
            tables.contains(&fields[0]).then(|| event(&fields))
        })
        .collect()
}

fn event(fields: &[&str]) -> Event {
    let text = |i: usize| fields[i + 2].to_string();
    let int = |i: usize| fields[i + 2].parse::<i64>().expect("a number");
    let row = match fields[0] {
        "region" => Row::Region { key: int(0), name: text(1) },
        "nation" => Row::Nation { key: int(0), name: text(1), region: int(2) },
        "supplier" => Row::Supplier { key: int(0), nation: int(1) },
        "part" => Row::Part { key: int(0), brand: text(1), container: text(2) },
        "customer" => Row::Customer { key: int(0), name: text(1), nation: int(2), segment: text(3) },
        "orders" => Row::Order { key: int(0), customer: int(1), price: int(2), date: int(3), priority: int(4) },
        "lineitem" => Row::Line {
            order: int(0),
            // column 1 is the number of the line
            part: int(2),
            supplier: int(3),
            quantity: int(4),
            price: int(5),
            discount: int(6),
            shipped: int(7),
        },
        other => panic!("no table is called {other}"),
    };
    Event { row, sign: fields[1].parse().expect("a sign") }
}

/// The tables of a query.
pub fn tables(query: &str) -> &'static [&'static str] {
    match query {
        "Q3" | "Q18" => &["customer", "orders", "lineitem"],
        "Q5" => &["region", "nation", "supplier", "customer", "orders", "lineitem"],
        "Q17" => &["part", "lineitem"],
        other => panic!("no query is called {other}"),
    }
}

/// 15 March 1995, and the first days of 1994 and 1995, as days since 1970.
pub const CUT: i64 = 9204;
pub const FIRST: i64 = 8766;
pub const LAST: i64 = 9131;
