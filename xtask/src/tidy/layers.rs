//! Dependencies run downwards only: a crate may name crates of lower layers, and neither its
//! neighbours nor those above it. Tests obey the same rule, or they could not move with
//! their crate.

use super::Offence;
use super::files::Tree;

/// Every package of the workspace and its layer, from the ground up.
const LAYERS: [(&str, u32); 11] = [
    ("vincula-blocks", 0),
    ("vincula", 1),
    ("vincula-classic", 2),
    ("vincula-scenes", 2),
    ("vincula-exchange", 3),
    ("vincula-viewer", 4),
    ("vincula-cli", 4),
    ("vincula-python", 4),
    ("vincula-validate", 4),
    ("vincula-peers", 4),
    // Chores start the other packages as programs and link none of them.
    ("xtask", 0),
];

/// Checks the manifest of every package.
pub fn check(tree: &Tree) -> Vec<Offence> {
    tree.texts()
        .filter(|(path, _)| path.ends_with("/Cargo.toml"))
        .flat_map(|(path, text)| check_manifest(path, text))
        .collect()
}

fn check_manifest(path: &str, text: &str) -> Vec<Offence> {
    let Some((line, package)) = package_name(text) else {
        return vec![Offence::new(path, 1, "the manifest names no package")];
    };
    let Some(own) = layer(package) else {
        let what = format!("package '{package}' has no layer yet; give it one in xtask");
        return vec![Offence::new(path, line, what)];
    };
    let mut offences = Vec::new();
    for (line, dependency) in dependencies(text) {
        let Some(other) = layer(dependency) else {
            continue;
        };
        if other >= own {
            let direction = if other > own { "upward" } else { "sideways" };
            let what = format!("{direction} dependency: '{package}' may not use '{dependency}'");
            offences.push(Offence::new(path, line, what));
        }
    }
    offences
}

fn layer(package: &str) -> Option<u32> {
    LAYERS
        .iter()
        .find_map(|(name, layer)| (*name == package).then_some(*layer))
}

fn package_name(text: &str) -> Option<(usize, &str)> {
    entries(text)
        .find(|entry| entry.table == "package" && entry.key == "name")
        .map(|entry| (entry.line, entry.value.trim_matches('"')))
}

/// Line and package name of every dependency, under whatever name it goes by here.
fn dependencies(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for entry in entries(text) {
        if is_dependency_table(entry.table) {
            let renamed = quoted_after(entry.value, "package");
            found.push((entry.line, renamed.unwrap_or(entry.key)));
        } else if let Some((table, name)) = entry.table.rsplit_once('.')
            && is_dependency_table(table)
        {
            let renamed = (entry.key == "package").then_some(entry.value.trim_matches('"'));
            found.push((entry.line, renamed.unwrap_or(name)));
        }
    }
    found
}

fn is_dependency_table(table: &str) -> bool {
    let last = table.rsplit('.').next().unwrap_or(table);
    ["dependencies", "dev-dependencies", "build-dependencies"].contains(&last)
}

fn quoted_after<'a>(value: &'a str, key: &str) -> Option<&'a str> {
    let rest = &value[value.find(key)? + key.len()..];
    rest.split('"').nth(1)
}

/// One `key = value` line of a manifest and the table it stands in.
struct Entry<'a> {
    line: usize,
    table: &'a str,
    key: &'a str,
    value: &'a str,
}

/// The lines of a manifest. Enough of TOML for dependencies, which are one line each.
fn entries(text: &str) -> impl Iterator<Item = Entry<'_>> {
    let mut table = "";
    text.lines().enumerate().filter_map(move |(index, line)| {
        let line = line.trim();
        if line.starts_with('[') {
            table = line.trim_matches(['[', ']']);
            return None;
        }
        if line.starts_with('#') {
            return None;
        }
        let (key, value) = line.split_once('=')?;
        // `vincula.workspace = true` is a key with a dot.
        let key = key.trim().split('.').next()?.trim_matches('"');
        Some(Entry {
            line: index + 1,
            table,
            key,
            value: value.trim(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(package: &str, rest: &str) -> Vec<String> {
        let text = format!("[package]\nname = \"{package}\"\n{rest}");
        let tree = Tree::of(&[("crates/x/Cargo.toml", &text)]);
        check(&tree).iter().map(Offence::to_string).collect()
    }

    #[test]
    fn downward_edges_and_other_crates_pass() {
        let rest = "[dependencies]\nvincula-blocks.workspace = true\nglam.workspace = true\n";
        assert!(manifest("vincula", rest).is_empty());
    }

    #[test]
    fn an_upward_edge_is_found_at_its_line() {
        let rest = "[dependencies]\nglam = \"1\"\nvincula-scenes.workspace = true\n";
        let expected = "crates/x/Cargo.toml:5: upward dependency: 'vincula' may not use \
                        'vincula-scenes'";
        assert_eq!(manifest("vincula", rest), [expected]);
    }

    #[test]
    fn a_sideways_edge_of_tests_is_found() {
        let rest = "[dev-dependencies]\nvincula-scenes = { workspace = true }\n";
        let found = manifest("vincula-classic", rest);
        assert!(found[0].contains("sideways"), "{found:?}");
    }

    #[test]
    fn a_renamed_or_tabled_dependency_does_not_hide() {
        let inline = "[dependencies]\nengine = { package = \"vincula\", path = \"..\" }\n";
        assert_eq!(manifest("vincula-blocks", inline).len(), 1);
        let table = "[target.'cfg(unix)'.dependencies.vincula-cli]\nworkspace = true\n";
        assert_eq!(manifest("vincula-exchange", table).len(), 1);
    }

    #[test]
    fn a_package_without_a_layer_is_reported() {
        assert!(manifest("vincula-novel", "")[0].contains("no layer"));
    }
}
