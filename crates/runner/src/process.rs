//! Running a program with limits, so that nothing of it is left.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// What a program may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) time: Duration,
    /// Bytes of standard output; as many of standard error are kept.
    pub(crate) output: usize,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    Exited(ExitStatus),
    TimedOut,
    TooMuchOutput,
    Stopped,
}

/// What a program left.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) how: How,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

/// How long a look at the clock may be put off while the program is silent.
const TICK: Duration = Duration::from_millis(50);

/// How long what is left of a process tree is hunted.
const HUNT: Duration = Duration::from_secs(5);

/// Runs a program in a process group of its own. `mark` is an environment variable's value that its children inherit: by it
/// those are found that left the group.
pub(crate) fn run(mut command: Command, limits: Limits, mark: &str, stop: &AtomicBool) -> io::Result<Ended> {
    use std::os::unix::process::CommandExt;
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = Running { child: command.spawn()?, is_reaped: false };
    let ended = child.watch(limits, stop);
    let is_clean = matches!(&ended, Ok(Ended { how: How::Exited(_), .. }));
    child.end();
    if !is_clean {
        hunt(mark);
    }
    ended
}

/// A child that doesn't outlive its guard.
struct Running {
    child: Child,
    is_reaped: bool,
}

impl Running {
    fn watch(&mut self, limits: Limits, stop: &AtomicBool) -> io::Result<Ended> {
        let began = Instant::now();
        let mut stdout = self.child.stdout.take().expect("it is piped");
        let mut stderr = self.child.stderr.take().expect("it is piped");
        let (mut said, mut complained) = (Vec::new(), Vec::new());
        let (mut out_open, mut err_open) = (true, true);
        let mut buffer = vec![0; 64 * 1024];
        let how = loop {
            let left = limits.time.saturating_sub(began.elapsed());
            if left.is_zero() {
                break How::TimedOut;
            }
            if stop.load(Ordering::Relaxed) {
                break How::Stopped;
            }
            if said.len() > limits.output {
                break How::TooMuchOutput;
            }
            let exited = self.child.try_wait()?;
            if let Some(status) = exited {
                self.is_reaped = true;
                if !out_open && !err_open {
                    break How::Exited(status);
                }
            }
            // A child that is gone leaves what it had written; a grandchild may hold the pipe open.
            let wait = if exited.is_some() { Duration::ZERO } else { left.min(TICK) };
            let mut ready = [(false, false); 1];
            {
                let mut fds = Vec::with_capacity(2);
                if out_open {
                    fds.push(PollFd::new(&stdout, PollFlags::IN));
                }
                if err_open {
                    fds.push(PollFd::new(&stderr, PollFlags::IN));
                }
                if fds.is_empty() {
                    // Both ends are closed, and the program goes on.
                    std::thread::sleep(wait.min(Duration::from_millis(2)));
                    continue;
                }
                let timeout = Timespec::try_from(wait).expect("a short time");
                match poll(&mut fds, Some(&timeout)) {
                    Ok(0) if exited.is_some() => break How::Exited(exited.expect("it was just seen")),
                    Ok(_) | Err(rustix::io::Errno::INTR) => {}
                    Err(error) => return Err(error.into()),
                }
                let is_ready = |fd: &PollFd<'_>| !fd.revents().is_empty();
                ready[0].0 = out_open && is_ready(&fds[0]);
                ready[0].1 = err_open && fds.last().is_some_and(is_ready);
            }
            if ready[0].0 {
                let count = stdout.read(&mut buffer)?;
                out_open = count > 0;
                said.extend_from_slice(&buffer[..count]);
            }
            if ready[0].1 {
                let count = stderr.read(&mut buffer)?;
                err_open = count > 0;
                let room = limits.output.saturating_sub(complained.len());
                complained.extend_from_slice(&buffer[..count.min(room)]);
            }
        };
        said.truncate(limits.output);
        Ok(Ended { how, stdout: said, stderr: complained })
    }

    /// Kills what is left of the group and takes the child's end.
    fn end(&mut self) {
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // Nothing left to kill is as good.
            let _ = kill_process_group(group, Signal::KILL);
        }
        if !self.is_reaped {
            let _ = self.child.kill();
            let _ = self.child.wait();
            self.is_reaped = true;
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

/// The environment variable by which the processes of a replay are known.
pub(crate) const MARK: &str = "HINDCAST_REPLAY";

/// Ends what a run of that token left behind when it was killed.
pub fn end_leftovers(token: &str) {
    hunt(&format!("{token}:"));
}

/// Kills every process of this user whose mark begins so, until none is left.
#[cfg(target_os = "linux")]
pub(crate) fn hunt(mark: &str) {
    let wanted = format!("{MARK}={mark}");
    let began = Instant::now();
    while began.elapsed() < HUNT {
        let mut found = false;
        for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
            let pid = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok());
            let Some(pid) = pid.and_then(Pid::from_raw) else { continue };
            let Ok(environment) = std::fs::read(entry.path().join("environ")) else { continue };
            if environment.split(|byte| *byte == 0).any(|variable| variable.starts_with(wanted.as_bytes())) {
                found = true;
                let _ = kill_process(pid, Signal::KILL);
            }
        }
        if !found {
            return;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Where there is no /proc, the group has to do.
#[cfg(not(target_os = "linux"))]
pub(crate) fn hunt(_: &str) {
    let _ = (HUNT, kill_process);
}
