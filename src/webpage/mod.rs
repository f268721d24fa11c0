//! The objects (subresources) of a web page: finds them in HTML and CSS and loads them like a browser does.
//!
//! Nothing is laid out and no script is run, so some things that a browser knows are fixed here:
//!
//! - The window is a screen of 1920 by 1080 CSS pixels at one device pixel each, with a light color scheme. `srcset`,
//!   `sizes`, `picture` and media queries are evaluated for it. Of a `picture` one image is loaded.
//! - Images and frames with `loading="lazy"` are loaded, as for a user who scrolls to the end. Media with
//!   `preload="none"` are not; of other media the first 1 MiB is read, as a browser buffers a part.
//! - Style sheets that do not apply to the screen are loaded, like browsers do; their objects are not. Every `url()` of
//!   an applicable style sheet counts, whether or not its rule matches an element of the page. Of a `@font-face` the
//!   first supported format is loaded, and none when its `unicode-range` excludes the basic Latin letters.
//! - `noscript`, `template` and comments are ignored, as with scripts enabled. Objects that scripts would load are not
//!   found. `/favicon.ico` is not requested unless a `link` refers to it.
//! - The documents of frames and their objects are loaded; frames in frames are loaded but not scanned.
//! - Objects are identified by their URL without fragment. An object that occurs twice is loaded once.

mod content_scan;
mod css_scanner;
mod error_skipping_emitter;
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
mod on_task_outcome;
mod origin;
mod srcset;

pub use css_scanner::scan_css;
pub use fingerprint::text_fingerprint;
pub use html_scanner::scan_html;
pub use load::load;
pub use load_options::{LoadOptions, LoadedPage};
pub use object_queue::{FoundObject, MAX_OBJECTS, PageObjectQueue};
