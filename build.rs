//! Does nothing; without it Cargo would leave the build-dependencies out, and with them what they switch on
//! (`openssl-src` in Cargo.toml).

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
