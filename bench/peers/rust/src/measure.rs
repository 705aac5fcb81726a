//! The loop that measures: half of the stream is loaded before the clock starts, in batches of 10,000.

use std::fs::File;
use std::io::{BufWriter, Write};

use crate::stream::Event;

const LOADING: usize = 10_000;

/// A program that keeps one query current.
pub trait Peer {
    /// Takes an event into the batch that is collected.
    fn push(&mut self, event: Event);
    /// Brings the result up to date with the batch.
    fn step(&mut self);
    /// The rows of the result, columns separated by `|`.
    fn answer(&self) -> Vec<String>;
}

/// Processor time of this process, in seconds: all threads, user and system.
pub fn processor_time() -> f64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let code = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut now) };
    assert_eq!(code, 0, "the clock of processor time cannot be read");
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

fn run(peer: &mut dyn Peer, events: impl Iterator<Item = Event>, batch: usize) {
    let mut waiting = 0;
    for event in events {
        peer.push(event);
        waiting += 1;
        if waiting == batch {
            peer.step();
            waiting = 0;
        }
    }
    if waiting > 0 {
        peer.step();
    }
}

/// Loads `start` events, measures `timed` events in batches, processes the others, and writes the result.
pub fn measure(peer: &mut dyn Peer, events: Vec<Event>, arguments: &Arguments) {
    let mut events = events.into_iter();
    run(peer, events.by_ref().take(arguments.start), LOADING);
    let before = processor_time();
    run(peer, events.by_ref().take(arguments.timed), arguments.batch);
    let spent = processor_time() - before;
    run(peer, events, LOADING);
    let mut file = BufWriter::new(File::create(&arguments.result).expect("a file for the result"));
    for row in peer.answer() {
        writeln!(file, "{row}").expect("the result can be written");
    }
    println!("{{\"seconds\": {spent}, \"rows\": {}}}", arguments.timed);
}

/// `QUERY STREAM BATCH START TIMED RESULT`
#[derive(Clone)]
pub struct Arguments {
    pub query: String,
    pub stream: String,
    pub batch: usize,
    pub start: usize,
    pub timed: usize,
    pub result: String,
}

impl Arguments {
    pub fn read() -> Self {
        let given: Vec<String> = std::env::args().skip(1).collect();
        assert_eq!(given.len(), 6, "QUERY STREAM BATCH START TIMED RESULT");
        let number = |i: usize| given[i].parse::<usize>().expect("a number");
        Arguments {
            query: given[0].clone(),
            stream: given[1].clone(),
            batch: number(2),
            start: number(3),
            timed: number(4),
            result: given[5].clone(),
        }
    }
}
