//! The protocol between tool services, played on a bus that is a queue.

use std::collections::VecDeque;

use super::*;

/// What is said on the bus, and by whom (an index; `OUTSIDER` for whoever is no toolhost).
#[derive(Debug, Clone)]
enum Said {
    Probe(usize),
    Request,
    /// The answer of `by` to the probe of `to`, or to a request.
    Answer {
        by: usize,
        to: Option<usize>,
    },
}

const OUTSIDER: usize = 99;

/// Several toolhosts on one bus; every Message reaches all in the same order.
struct Bus {
    hosts: Vec<Service>,
    connected: Vec<bool>,
    queue: VecDeque<Said>,
    now: Instant,
    /// Who answered requests so far.
    answered: Vec<usize>,
    /// Whether a tool service that is no toolhost answers too.
    outsider: bool,
}

impl Bus {
    fn new(modes: &[ToolService]) -> Self {
        let hosts = modes.iter().enumerate();
        Self {
            hosts: hosts
                .map(|(index, mode)| Service::new(format!("{index:032x}"), *mode))
                .collect(),
            connected: vec![false; modes.len()],
            queue: VecDeque::new(),
            now: Instant::now(),
            answered: Vec::new(),
            outsider: false,
        }
    }

    fn wait(&mut self, time: Duration) {
        self.now += time;
    }

    fn connect(&mut self, index: usize) {
        self.connected[index] = true;
        let step = self.hosts[index].connected(self.now);
        self.perform(index, step, None);
    }

    fn perform(&mut self, index: usize, step: Step, answer: Option<Said>) {
        if step.answer {
            self.queue.extend(answer);
        }
        if step.probe {
            self.queue.push_back(Said::Probe(index));
        }
    }

    /// Delivers until nobody has anything left to say.
    fn run(&mut self) {
        for _ in 0..1000 {
            let Some(said) = self.queue.pop_front() else {
                return;
            };
            if let Said::Answer { by, to: None } = said {
                self.answered.push(by);
            }
            if self.outsider {
                match said {
                    Said::Probe(asker) => self.queue.push_back(Said::Answer {
                        by: OUTSIDER,
                        to: Some(asker),
                    }),
                    Said::Request => self.queue.push_back(Said::Answer { by: OUTSIDER, to: None }),
                    Said::Answer { .. } => {}
                }
            }
            for index in 0..self.hosts.len() {
                if self.connected[index] {
                    self.deliver(index, &said);
                }
            }
        }
        panic!("they never stop talking");
    }

    fn deliver(&mut self, index: usize, said: &Said) {
        let host = &mut self.hosts[index];
        let (step, to) = match *said {
            Said::Probe(by) if by != index => {
                let other = format!("{by:032x}");
                (host.probe_overheard(&other, self.now), Some(by))
            }
            Said::Request => (host.request(self.now), None),
            Said::Answer { by, to } if by != index => (host.answer_overheard(to == Some(index), self.now), None),
            _ => return,
        };
        self.perform(index, step, Some(Said::Answer { by: index, to }));
    }

    /// One request, and who answers it.
    fn request(&mut self) -> Vec<usize> {
        self.answered.clear();
        self.queue.push_back(Said::Request);
        self.run();
        std::mem::take(&mut self.answered)
    }
}

use ToolService::{Auto, No, Yes};

const LONG: Duration = Duration::from_secs(600);

#[test]
fn alone_it_answers_at_once_and_for_good() {
    let mut bus = Bus::new(&[Auto]);
    bus.connect(0);
    assert_eq!(bus.request(), [0]);
    bus.wait(LONG);
    assert_eq!(bus.request(), [0]);
}

#[test]
fn the_configuration_has_the_last_word() {
    for (mode, expected) in [(Yes, vec![0]), (No, vec![])] {
        let mut bus = Bus::new(&[mode]);
        bus.connect(0);
        assert!(bus.queue.is_empty(), "asked nobody");
        bus.hosts[0].answer_overheard(true, bus.now);
        assert_eq!(bus.request(), expected);
    }
}

#[test]
fn another_service_silences_it_until_it_goes() {
    let mut bus = Bus::new(&[Auto]);
    bus.outsider = true;
    bus.connect(0);
    bus.run();
    assert_eq!(bus.hosts[0].silent(), Some(Other::ToolService));
    for _ in 0..5 {
        assert_eq!(bus.request(), [OUTSIDER]);
        bus.wait(SETTLE);
    }
    bus.wait(LONG);
    assert_eq!(
        bus.request(),
        [OUTSIDER],
        "asking again changes nothing while it is there"
    );

    bus.outsider = false;
    bus.wait(LONG);
    assert_eq!(bus.request(), [0; 0], "the first request asks");
    assert_eq!(bus.request(), [0; 0], "and it takes time to be sure");
    bus.wait(SETTLE);
    assert_eq!(bus.request(), [0]);

    bus.outsider = true;
    bus.wait(LONG);
    let mut both = bus.request();
    both.sort_unstable();
    assert_eq!(both, [0, OUTSIDER], "one request shows that it is back");
    assert_eq!(bus.request(), [OUTSIDER]);
}

#[test]
fn of_toolhosts_that_start_together_the_lowest_id_answers() {
    // Every order of connecting, with the queue run between them or not.
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        for between in [false, true] {
            let mut bus = Bus::new(&[Auto; 3]);
            for index in order {
                bus.connect(index);
                if between {
                    bus.run();
                }
                bus.wait(Duration::from_millis(100));
            }
            bus.run();
            let answered = bus.request();
            assert_eq!(answered.len(), 1, "{order:?} {between}: {answered:?}");
            if !between {
                assert_eq!(answered, [0], "{order:?}");
            }
            bus.wait(LONG);
            assert_eq!(bus.request(), answered, "and it stays");
        }
    }
}

#[test]
fn a_newcomer_leaves_the_place_to_who_has_it() {
    for (first, second) in [(0, 1), (1, 0)] {
        let mut bus = Bus::new(&[Auto, Auto]);
        bus.connect(first);
        bus.run();
        bus.wait(SETTLE);
        bus.connect(second);
        bus.run();
        assert_eq!(bus.request(), [first]);
    }
}

#[test]
fn a_request_in_the_middle_of_the_start_does_not_silence_both() {
    for requests in 1..4 {
        let mut bus = Bus::new(&[Auto, Auto]);
        // Both answer before either has seen the other's probe.
        bus.connect(0);
        bus.connect(1);
        for _ in 0..requests {
            bus.queue.push_front(Said::Request);
        }
        bus.run();
        assert_eq!(bus.request(), [0]);
    }
}

#[test]
fn two_that_answered_unknown_to_each_other_sort_it_out() {
    let mut bus = Bus::new(&[Auto, Auto]);
    for index in [1, 0] {
        // Their probes were lost, as on a bus that was just starting.
        bus.connect(index);
        bus.queue.clear();
    }
    bus.wait(LONG);
    assert_eq!(bus.request().len(), 2);
    assert_eq!(bus.request().len(), 1);
    bus.wait(LONG);
    assert_eq!(bus.request().len(), 1);
}

#[test]
fn of_several_silent_ones_one_takes_over() {
    let mut bus = Bus::new(&[Auto, Auto, Auto]);
    bus.outsider = true;
    for index in [2, 0, 1] {
        bus.connect(index);
        bus.run();
    }
    bus.outsider = false;
    bus.wait(LONG);
    assert_eq!(bus.request(), [0; 0]);
    bus.wait(SETTLE);
    assert_eq!(bus.request(), [0]);
    bus.wait(LONG);
    assert_eq!(bus.request(), [0]);
}

#[test]
fn one_with_yes_silences_one_with_auto() {
    let mut bus = Bus::new(&[Auto, Yes]);
    bus.connect(1);
    bus.connect(0);
    bus.run();
    assert_eq!(bus.request(), [1]);
    let step = bus.hosts[0].set_mode(Yes, bus.now);
    assert!(!step.probe);
    assert!(bus.hosts[0].serves());
}

#[test]
fn what_changes_is_told_once() {
    let now = Instant::now();
    let mut service = Service::new("5".into(), Auto);
    assert!(service.connected(now).probe);
    let step = service.answer_overheard(true, now);
    assert_eq!(step.news, Some(News::FellSilent(Other::ToolService)));
    assert_eq!(service.answer_overheard(true, now), Step::SILENCE);
    assert!(!service.serves());
    assert!(service.request(now + ASK_AGAIN).probe);
    let step = service.request(now + ASK_AGAIN + SETTLE);
    assert_eq!((step.answer, step.news), (true, Some(News::Resumed)));
    assert_eq!(service.request(now + ASK_AGAIN + SETTLE), Step::ANSWER);
}
