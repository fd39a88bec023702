//! Draws a terminal's output as SVG: the README's picture.
//!
//! ```sh
//! COLUMNS=92 cargo run --quiet -- demo "$(mktemp -d)/shop" --color always | tail -n +5 | head -n 54 \
//!   | cargo run --quiet --example terminal-svg > docs/src/demo.svg
//! ```

use std::io::{Read, Write};

fn main() -> std::io::Result<()> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let svg = anstyle_svg::Term::new().min_width_px(760).render_svg(&text);
    std::io::stdout().write_all(svg.as_bytes())
}
