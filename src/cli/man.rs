//! `pipelint man`: manual pages.

use super::{Failure, Outcome, arguments, output};
use clap::ArgMatches;

pub fn run(args: &ArgMatches) -> Result<Outcome, Failure> {
    let failed = |error: std::io::Error| Failure::new(format!("cannot write the manual: {error}"));
    match args.get_one::<String>("output") {
        Some(folder) => {
            std::fs::create_dir_all(folder).map_err(failed)?;
            clap_mangen::generate_to(arguments::command(), folder).map_err(failed)?;
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(arguments::command()).render(&mut page).map_err(failed)?;
            output::print(&String::from_utf8_lossy(&page))?;
        }
    }
    Ok(Outcome::Clean)
}
