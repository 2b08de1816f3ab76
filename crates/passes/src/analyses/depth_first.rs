//! A depth-first search with an explicit stack: a program may nest as deep as it likes.

#[derive(Clone, Copy, PartialEq)]
enum State {
    New,
    Open,
    Closed,
}

/// The vertices in the order in which the search leaves them: each after all that its edges lead to, where there are no
/// cycles. `edges` are the vertices that each leads to. Each cycle is told once, as its vertices with the index of the
/// edge that each has in it. O(vertices + edges).
pub fn depth_first(edges: &[Vec<usize>], mut cycle: impl FnMut(&[(usize, usize)])) -> Vec<usize> {
    let mut states = vec![State::New; edges.len()];
    let mut left = vec![];
    for root in 0..edges.len() {
        if state(&states, root) != State::New {
            continue;
        }
        let mut open: Vec<(usize, usize)> = vec![(root, 0)];
        set(&mut states, root, State::Open);
        while let Some((vertex, next)) = open.pop() {
            let Some(child) = edges.get(vertex).and_then(|edges| edges.get(next)).copied() else {
                set(&mut states, vertex, State::Closed);
                left.push(vertex);
                continue;
            };
            open.push((vertex, next + 1));
            match state(&states, child) {
                State::New => {
                    set(&mut states, child, State::Open);
                    open.push((child, 0));
                }
                State::Open => {
                    let steps = open.iter().skip_while(|(vertex, _)| *vertex != child);
                    let steps = steps.filter_map(|(vertex, next)| Some((*vertex, next.checked_sub(1)?)));
                    cycle(&steps.collect::<Vec<_>>());
                }
                State::Closed => {}
            }
        }
    }
    left
}

fn state(states: &[State], vertex: usize) -> State {
    states.get(vertex).copied().unwrap_or(State::Closed)
}

fn set(states: &mut [State], vertex: usize, state: State) {
    if let Some(slot) = states.get_mut(vertex) {
        *slot = state;
    }
}
