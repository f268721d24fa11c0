//! The objects of a web page: found in HTML and CSS, and loaded as a browser loads them (behaviour.md 4, full page).
//!
//! Nothing is laid out and no script is run, so some things a browser knows are decided here once:
//!
//! - The window is 1920 by 1080 CSS pixels at one device pixel each, on a screen, with a light scheme. `srcset`,
//!   `sizes`, `picture` and media queries are judged by that. Of a `picture` one image is taken.
//! - Images and frames with `loading="lazy"` are loaded, as for a visitor who scrolls to the end. Media with
//!   `preload="none"` are not; of other media the first 1 MiB is read, as a browser buffers a part.
//! - Style sheets that are not for the screen are loaded, as browsers do; what they name is not. Every `url()` of
//!   a sheet that is for the screen counts, whether or not a rule of it fits an element of the page. Of a
//!   `@font-face` the first format that browsers take is loaded, and none when its `unicode-range` leaves out
//!   the basic Latin letters.
//! - `noscript` and `template` and what is commented out is passed over, as with scripts on. What scripts would
//!   load is not seen. `/favicon.ico` is not asked for when no `link` names it.
//! - The documents of frames are loaded, and what they consist of too; frames in frames are loaded and not read.
//! - Objects are told apart by their whole URL without fragment. One that stands there twice is loaded once.

mod css_scanner;
mod fingerprint;
mod header_cache;
mod html_element;
mod html_scanner;
mod load;
mod load_options;
mod load_task;
mod loader;
mod media_query;
mod media_type;
mod object;
mod object_headers;
mod object_queue;
mod origin;
mod scan;
mod silent_emitter;
mod site;
mod srcset;
mod task_outcome;

pub use css_scanner::scan_css;
pub use fingerprint::text_fingerprint;
pub use html_scanner::scan_html;
pub use load::load;
pub use load_options::{LoadOptions, LoadedPage};
pub use object_queue::{FoundObject, MAX_OBJECTS, PageObjectQueue};
pub use site::{same_site, site};
