//! Collections against a service on loopback, side by side with newman 6.2.2.

mod case;
mod check;
mod cost;
mod coverage;
mod echo;
mod features;
mod files;
mod goldens;
mod newman;
mod processes;
mod run;
mod side_by_side;
