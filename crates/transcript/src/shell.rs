//! Which files a shell command shows. As much of the shell's grammar as agents use to read files.

/// Programs that show the files they are given.
const SHOWS: [&str; 12] = ["cat", "head", "tail", "less", "more", "bat", "batcat", "nl", "tac", "awk", "sed", "cut"];

/// Programs that show the lines that match; they show a file only if it is named.
const SEARCHES: [&str; 5] = ["rg", "grep", "egrep", "fgrep", "ag"];

/// Options of those with which only names are shown, or counts.
const NAMES_ONLY: [&str; 7] = ["-l", "-L", "-c", "-q", "--files", "--files-with-matches", "--count"];

/// The longest command that is read.
const MAX_COMMAND: usize = 64 * 1024;

/// Paths that the command shows the content of, as far as the command itself tells; relative ones from `cd`s before.
/// A `*` stands as it is.
pub(crate) fn files_shown(command: &str) -> Vec<String> {
    let command = &command[..command.floor_char_boundary(MAX_COMMAND)];
    let mut reader = Reader::default();
    reader.read(command, 0);
    reader.shown
}

#[derive(Default)]
struct Reader {
    shown: Vec<String>,
    folder: String,
    /// Variables of `for` loops and assignments.
    variables: Vec<(String, Vec<String>)>,
}

impl Reader {
    fn read(&mut self, command: &str, depth: usize) {
        for words in simple_commands(command) {
            self.simple(&words, depth);
        }
    }

    fn simple(&mut self, words: &[String], depth: usize) {
        let mut words = words;
        // `VAR=value program`, and words that only open something.
        while let Some(first) = words.first() {
            if let Some((name, value)) = first.split_once('=').filter(|(name, _)| is_name(name)) {
                self.variables.push((name.to_owned(), vec![value.to_owned()]));
            } else if !matches!(
                first.as_str(),
                "do" | "then" | "else" | "{" | "(" | "!" | "time" | "sudo" | "env" | "if" | "while"
            ) {
                break;
            }
            words = &words[1..];
        }
        let Some((program, rest)) = words.split_first() else { return };
        let program = program.rsplit('/').next().unwrap_or_default();
        match program {
            "cd" | "pushd" => {
                if let Some(folder) = rest.iter().find(|word| !word.starts_with('-')) {
                    self.folder = self.place(folder);
                }
            }
            "for" => {
                if let Some((name, rest)) = rest.split_first() {
                    let values = rest.iter().filter(|word| *word != "in").flat_map(|word| self.expand(word)).collect();
                    self.variables.push((name.clone(), values));
                }
            }
            "bash" | "sh" | "zsh" | "dash" => {
                let script = rest.iter().skip_while(|word| !(word.starts_with('-') && word.contains('c'))).nth(1);
                if let Some(script) = script.filter(|_| depth < 3) {
                    self.read(script, depth + 1);
                }
            }
            "xargs" => self.simple(rest, depth),
            "python" | "python3" | "node" | "perl" | "ruby" => {
                for word in rest {
                    self.shown.extend(opened(word));
                }
            }
            _ if SHOWS.contains(&program) => self.show(rest),
            _ if SEARCHES.contains(&program) && !rest.iter().any(|word| NAMES_ONLY.contains(&word.as_str())) => {
                let mut words = rest.iter().filter(|word| !word.starts_with('-'));
                words.next();
                let files: Vec<String> = words.cloned().collect();
                self.show(&files);
            }
            _ => {}
        }
    }

    fn show(&mut self, words: &[String]) {
        for word in words.iter().filter(|word| !word.starts_with('-') && !word.starts_with('>')) {
            for file in self.expand(word.trim_start_matches('<')) {
                let file = self.place(&file);
                self.shown.push(file);
            }
        }
    }

    /// A word with variables and braces put in.
    fn expand(&self, word: &str) -> Vec<String> {
        let mut words = vec![word.to_owned()];
        for (name, values) in self.variables.iter().rev() {
            let marks = [format!("${{{name}}}"), format!("${name}")];
            for mark in marks {
                if words.iter().any(|word| word.contains(&mark)) && words.len() * values.len() <= 256 {
                    words =
                        words.iter().flat_map(|word| values.iter().map(|value| word.replace(&mark, value))).collect();
                }
            }
        }
        words.iter().flat_map(|word| braces(word)).collect()
    }

    fn place(&self, path: &str) -> String {
        if path.starts_with(['/', '~']) || self.folder.is_empty() {
            path.to_owned()
        } else {
            format!("{}/{path}", self.folder.trim_end_matches('/'))
        }
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// `a/{b,c}.md` as `a/b.md` and `a/c.md`.
fn braces(word: &str) -> Vec<String> {
    let parts = word
        .split_once('{')
        .and_then(|(before, rest)| rest.split_once('}').map(|(inner, after)| (before, inner, after)));
    match parts {
        Some((before, inner, after)) if inner.contains(',') && inner.len() < 4096 => {
            inner.split(',').map(|one| format!("{before}{one}{after}")).collect()
        }
        _ => vec![word.to_owned()],
    }
}

/// Files that a script opens: `open('x')`, `read_text` of `Path("x")`, `readFileSync('x')`.
fn opened(script: &str) -> Vec<String> {
    let mut files = Vec::new();
    for opener in ["open(", "Path(", "readFileSync(", "readFile("] {
        for (at, _) in script.match_indices(opener) {
            let rest = script[at + opener.len()..].trim_start();
            let Some(quote) = rest.chars().next().filter(|c| matches!(c, '\'' | '"')) else { continue };
            files.extend(rest[1..].split_once(quote).map(|(file, _)| file.to_owned()));
        }
    }
    files
}

/// The simple commands of a script, each as its words without quotes. Redirections stay as words.
fn simple_commands(script: &str) -> Vec<Vec<String>> {
    let mut commands = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = script.chars().peekable();
    let mut quote = None;
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (Some('"') | None, '\\') => {
                if let Some(next) = chars.next() {
                    // A line that goes on.
                    if next != '\n' {
                        word.get_or_insert_default().push(next);
                    }
                }
            }
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ' | '\t') => words.extend(word.take()),
            (None, '\n' | ';' | '&' | '|') => {
                words.extend(word.take());
                if !words.is_empty() {
                    commands.push(std::mem::take(&mut words));
                }
            }
            (None, '#') if word.is_none() => while chars.next_if(|c| *c != '\n').is_some() {},
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    if !words.is_empty() {
        commands.push(words);
    }
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_show_files() {
        for (command, shown) in [
            ("cat references/io-jitter.md", &["references/io-jitter.md"][..]),
            ("bash -lc 'cat references/io-jitter.md'", &["references/io-jitter.md"]),
            ("sed -n 1,80p skill/references/read-path.md | head -5", &["1,80p", "skill/references/read-path.md"]),
            ("cd references && head -50 write-path.md", &["references/write-path.md"]),
            (
                "for f in io-jitter flow-control; do cat references/$f.md; done",
                &["references/io-jitter.md", "references/flow-control.md"],
            ),
            ("for f in references/*.md; do echo \"$f\"; cat \"$f\"; done", &["references/*.md"]),
            ("cat references/{leader-drop,io-jitter}.md", &["references/leader-drop.md", "references/io-jitter.md"]),
            ("rg -n fsync references/io-jitter.md", &["references/io-jitter.md"]),
            ("rg -l fsync references/io-jitter.md", &[]),
            ("grep -rn 'io-jitter.md' .", &["."]),
            ("ls references; find . -name io-jitter.md", &[]),
            ("echo references/io-jitter.md", &[]),
            ("python3 -c \"print(open('references/io-jitter.md').read())\"", &["references/io-jitter.md"]),
            ("F=references/io-jitter.md; less ${F}", &["references/io-jitter.md"]),
            ("cat 'unclosed", &["unclosed"]),
        ] {
            assert_eq!(files_shown(command), shown, "{command}");
        }
    }
}
