//! A terminal on which text is drawn in place: keys come one by one and are not shown, the text is cut to its size, and
//! at the end the terminal is as it was before, however that comes about: by a key, a signal or a panic.

use rustix::termios::{self, LocalModes, OptionalActions, SpecialCodeIndex, Termios};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGWINCH};
use signal_hook::iterator::Signals;
use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::sync::mpsc::Sender;
use std::sync::{Once, PoisonError, RwLock};

/// What happens while something is drawn.
pub enum Event<T> {
    /// A key, as the byte that it sends.
    Key(u8),
    /// The terminal has another size.
    Resized,
    /// The signal with this number asks for an end.
    Signal(i32),
    /// There is something new.
    New(T),
}

/// Takes the whole terminal, with an empty screen and no cursor.
const TAKE: &str = "\x1b[?1049h\x1b[?25l\x1b[H\x1b[2J";

/// Gives back what was on it.
const GIVE_BACK: &str = "\x1b[?25h\x1b[?1049l";

/// What a terminal is taken to be that does not say its size: columns and rows.
const USUAL_SIZE: (usize, usize) = (80, 24);

/// While the terminal is taken: how it was before, or None where no keys are read.
static TAKEN: RwLock<Option<Option<Termios>>> = RwLock::new(None);

/// The terminal of standard output, taken until this is dropped.
pub struct Screen(());

impl Screen {
    /// Takes the terminal, and says from now on what happens there.
    ///
    /// # Errors
    /// Where the terminal does not let itself be set.
    pub fn take<T: Send + 'static>(events: &Sender<Event<T>>) -> io::Result<Self> {
        // Before anything is changed, as each of them would end us and leave the terminal as it is.
        let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM, SIGWINCH])?;
        static ON_PANIC: Once = Once::new();
        ON_PANIC.call_once(|| {
            let usual = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                give_back();
                usual(panic);
                // Of whatever thread it is: nobody draws any more.
                std::process::exit(101);
            }));
        });
        let has_keys = io::stdin().is_terminal();
        let before = if has_keys { Some(termios::tcgetattr(io::stdin())?) } else { None };
        *TAKEN.write().unwrap_or_else(PoisonError::into_inner) = Some(before.clone());
        let screen = Self(());
        if let Some(before) = before {
            termios::tcsetattr(io::stdin(), OptionalActions::Now, &by_keys(before))?;
            let keys = events.clone();
            std::thread::spawn(move || {
                io::stdin().lock().bytes().map_while(Result::ok).try_for_each(|key| keys.send(Event::Key(key)))
            });
        }
        write(TAKE)?;
        let events = events.clone();
        std::thread::spawn(move || {
            signals.forever().try_for_each(|signal| {
                events.send(if signal == SIGWINCH { Event::Resized } else { Event::Signal(signal) })
            })
        });
        Ok(screen)
    }

    /// Draws a text from the first place on, as far as it fits.
    ///
    /// # Errors
    /// Where the terminal is gone.
    pub fn draw(&self, text: &str) -> io::Result<()> {
        let size = termios::tcgetwinsize(io::stdout()).map(|size| (size.ws_col.into(), size.ws_row.into()));
        let (columns, rows) = size.ok().filter(|size| size.0 > 0 && size.1 > 0).unwrap_or(USUAL_SIZE);
        // Each line to its end, and nothing below; no line ends the last row, as all would move up.
        write(&format!("\x1b[H{}\x1b[J", fitted(text, columns, rows).join("\x1b[K\n") + "\x1b[K"))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

/// The terminal as it was before, once.
fn give_back() {
    let taken = TAKEN.write().unwrap_or_else(PoisonError::into_inner).take();
    let Some(before) = taken else { return };
    // Where one of them fails, the terminal is gone.
    let _ = write(GIVE_BACK);
    if let Some(before) = before {
        let _ = termios::tcsetattr(io::stdin(), OptionalActions::Now, &before);
    }
}

/// Keys come at once and are not shown. None suspends us, as the terminal would stay taken.
fn by_keys(mut of: Termios) -> Termios {
    of.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
    for (code, value) in [(SpecialCodeIndex::VMIN, 1), (SpecialCodeIndex::VTIME, 0), (SpecialCodeIndex::VSUSP, 0)] {
        of.special_codes[code] = value;
    }
    of
}

fn write(text: &str) -> io::Result<()> {
    let mut terminal = io::stdout().lock();
    terminal.write_all(text.as_bytes())?;
    terminal.flush()
}

/// The upper left part of a text that fits; where lines are left out below, the last line says how many.
fn fitted(text: &str, columns: usize, rows: usize) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(|line| line.chars().take(columns).collect()).collect();
    if lines.len() > rows {
        let left_out = lines.len() - rows.saturating_sub(1);
        lines.truncate(rows.saturating_sub(1));
        lines.push(format!("… {left_out} more lines").chars().take(columns).collect());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use std::fs::File;
    use std::process::Command;

    #[test]
    fn a_text_is_cut_to_the_terminal() {
        let text = "µ12345\nab\n\nc\n";
        assert_eq!(fitted(text, 80, 24), ["µ12345", "ab", "", "c"]);
        assert_eq!(fitted(text, 3, 4), ["µ12", "ab", "", "c"]);
        assert_eq!(fitted(text, 14, 3), ["µ12345", "ab", "… 2 more lines"]);
        assert_eq!(fitted(text, 5, 1), ["… 4 m"]);
    }

    /// Runs as the program of the test below.
    #[test]
    #[ignore = "it panics"]
    fn panics_while_it_draws() {
        let (to, from) = std::sync::mpsc::channel::<Event<()>>();
        let screen = Screen::take(&to).unwrap();
        screen.draw("drawn").unwrap();
        std::thread::spawn(|| panic!("on purpose"));
        assert!(from.recv().is_err());
    }

    #[test]
    fn a_panic_gives_the_terminal_back() {
        const PANIC: &[u8] = b"on purpose\r\n";
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, vec![]).unwrap().into_string().unwrap();
        let theirs = File::options().read(true).write(true).open(name).unwrap();
        let before = termios::tcgetattr(&theirs).unwrap();
        let side = || theirs.try_clone().unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--ignored", "--exact", "screen::tests::panics_while_it_draws", "--nocapture"]);
        // What a backtrace says may be more than a terminal takes that nobody reads.
        child.env("RUST_BACKTRACE", "0");
        let mut child = child.stdin(side()).stdout(side()).stderr(side()).spawn().unwrap();
        let mut ours = File::from(ours);
        let mut said = vec![];
        while !said.windows(PANIC.len()).any(|part| part == PANIC) {
            let mut some = [0; 512];
            let got = ours.read(&mut some).unwrap();
            said.extend_from_slice(&some[..got]);
        }
        assert_eq!(child.wait().unwrap().code(), Some(101));
        let said = String::from_utf8_lossy(&said).into_owned();
        let (drawn, left) = said.split_once(GIVE_BACK).unwrap();
        assert!(drawn.contains("drawn") && left.contains("panicked at"), "{said}");
        let after = termios::tcgetattr(&theirs).unwrap();
        assert_eq!(after.local_modes, before.local_modes);
        assert_eq!(after.special_codes[SpecialCodeIndex::VSUSP], before.special_codes[SpecialCodeIndex::VSUSP]);
    }
}
