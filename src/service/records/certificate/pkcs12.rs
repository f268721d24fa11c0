//! PKCS#12 (RFC 7292) as written by OpenSSL, Java and Windows: a password protects certificates and keys.

use std::num::NonZeroU32;

use aws_lc_rs::cipher::{
    AES_128, AES_192, AES_256, DecryptionContext, PaddedBlockDecryptingKey, UnboundCipherKey,
};
use aws_lc_rs::iv::FixedLength;
use aws_lc_rs::{digest, hmac, pbkdf2};
use cbc::Decryptor;
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockModeDecrypt, KeyIvInit};
use x509_parser::asn1_rs::{Any, Class, FromDer, Oid, Tag, oid};
use zeroize::Zeroizing;

/// Most iterations of all key derivations of one archive. Common: 3 or 4 derivations of 2,048 to 10,000 iterations;
/// more than this takes seconds.
const MAX_KDF_ITERATIONS: u32 = 4_000_000;
/// Version of RFC 7292.
const VERSION: u32 = 3;

const DATA: Oid<'static> = oid!(1.2.840.113549.1.7.1);
const ENCRYPTED_DATA: Oid<'static> = oid!(1.2.840.113549.1.7.6);
const KEY_BAG: Oid<'static> = oid!(1.2.840.113549.1.12.10.1.1);
const SHROUDED_KEY_BAG: Oid<'static> = oid!(1.2.840.113549.1.12.10.1.2);
const CERTIFICATE_BAG: Oid<'static> = oid!(1.2.840.113549.1.12.10.1.3);
const X509: Oid<'static> = oid!(1.2.840.113549.1.9.22.1);
const PBES2: Oid<'static> = oid!(1.2.840.113549.1.5.13);
const PBKDF2: Oid<'static> = oid!(1.2.840.113549.1.5.12);

/// Contents of an archive, in order; all of it DER, keys as PKCS#8.
#[derive(Default)]
pub(super) struct Pkcs12Contents {
    pub(super) certificates: Vec<Vec<u8>>,
    pub(super) keys: Vec<Zeroizing<Vec<u8>>>,
}

/// Opens `archive`; `None` when it is not an archive, the password is wrong, or its protection is not supported.
pub(super) fn open_archive(archive: &[u8], password: &str) -> Option<Pkcs12Contents> {
    let utf16_password =
        Zeroizing::new(password.encode_utf16().chain([0]).flat_map(u16::to_be_bytes).collect());
    let contents = ArchiveOpener::new(password, utf16_password).open_archive(archive);
    if contents.is_none() && password.is_empty() {
        // For an empty password, some programs derive keys from no bytes, others from a single terminating zero.
        return ArchiveOpener::new(password, Zeroizing::default()).open_archive(archive);
    }
    contents
}

/// A sequence of DER elements.
struct DerReader<'a>(&'a [u8]);

impl<'a> DerReader<'a> {
    fn next_element(&mut self) -> Option<Any<'a>> {
        let (rest, any) = Any::from_der(self.0).ok()?;
        self.0 = rest;
        Some(any)
    }

    /// Reads the next element and returns its content; `None` unless it has this class and tag.
    fn content(&mut self, class: Class, tag: Tag) -> Option<&'a [u8]> {
        let any = self.next_element()?;
        (any.class() == class && any.tag() == tag).then_some(any.data)
    }

    fn sequence(&mut self) -> Option<Self> {
        self.content(Class::Universal, Tag::Sequence).map(Self)
    }

    fn octets(&mut self) -> Option<&'a [u8]> {
        self.content(Class::Universal, Tag::OctetString)
    }

    /// Returns the content of the tag `[0]`.
    fn context_tag_0(&mut self) -> Option<&'a [u8]> {
        self.content(Class::ContextSpecific, Tag(0))
    }

    fn oid(&mut self) -> Option<Oid<'a>> {
        self.next_element()?.oid().ok()
    }

    fn integer(&mut self) -> Option<u32> {
        self.next_element()?.u32().ok()
    }

    /// Returns an algorithm and its parameters.
    fn algorithm(&mut self) -> Option<(Oid<'a>, Self)> {
        let mut reader = self.sequence()?;
        Some((reader.oid()?, reader))
    }
}

/// Purpose of a derived key (RFC 7292, appendix B.3).
#[derive(Clone, Copy)]
enum KeyPurpose {
    Key = 1,
    InitializationVector = 2,
    Mac = 3,
}

struct ArchiveOpener<'a> {
    /// Password for PBES2.
    password: &'a [u8],
    /// The password in UTF-16 with a terminating zero, for all older schemes.
    utf16_password: Zeroizing<Vec<u8>>,
    /// Iterations of key derivation that are still allowed.
    remaining_iterations: u32,
    contents: Pkcs12Contents,
}

impl<'a> ArchiveOpener<'a> {
    fn new(password: &'a str, utf16_password: Zeroizing<Vec<u8>>) -> Self {
        Self {
            password: password.as_bytes(),
            utf16_password,
            remaining_iterations: MAX_KDF_ITERATIONS,
            contents: Pkcs12Contents::default(),
        }
    }

    fn open_archive(mut self, archive: &[u8]) -> Option<Pkcs12Contents> {
        let mut reader = DerReader(archive).sequence()?;
        if reader.integer()? != VERSION {
            return None;
        }
        let mut content = reader.sequence()?;
        if content.oid()? != DATA {
            return None;
        }
        let content = DerReader(content.context_tag_0()?).octets()?;
        if !reader.0.is_empty() {
            self.verify_mac(reader.sequence()?, content)?;
        }
        let mut safes = DerReader(content).sequence()?;
        while !safes.0.is_empty() {
            self.read_content_info(safes.sequence()?)?;
        }
        Some(self.contents)
    }

    /// Verifies the MAC of `content`.
    fn verify_mac(&mut self, mut mac_data: DerReader<'_>, content: &[u8]) -> Option<()> {
        let mut expected = mac_data.sequence()?;
        let (algorithm, _) = expected.algorithm()?;
        let expected = expected.octets()?;
        let salt = mac_data.octets()?;
        let iterations =
            self.consume_iterations(if mac_data.0.is_empty() { 1 } else { mac_data.integer()? })?;
        let algorithms = [
            (oid!(1.3.14.3.2.26), hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY),
            (oid!(2.16.840.1.101.3.4.2.4), hmac::HMAC_SHA224),
            (oid!(2.16.840.1.101.3.4.2.1), hmac::HMAC_SHA256),
            (oid!(2.16.840.1.101.3.4.2.2), hmac::HMAC_SHA384),
            (oid!(2.16.840.1.101.3.4.2.3), hmac::HMAC_SHA512),
        ];
        let (_, hmac_algorithm) = algorithms.into_iter().find(|(oid, _)| *oid == algorithm)?;
        let digest = hmac_algorithm.digest_algorithm();
        let key =
            derive_key(digest, KeyPurpose::Mac, &self.utf16_password, salt, iterations, digest.output_len());
        hmac::verify(&hmac::Key::new(hmac_algorithm, &key), content, expected).ok()
    }

    /// Reads one `ContentInfo` of the archive; each is plain or encrypted on its own.
    fn read_content_info(&mut self, mut content_info: DerReader<'_>) -> Option<()> {
        let kind = content_info.oid()?;
        let mut content = DerReader(content_info.context_tag_0()?);
        if kind == DATA {
            return self.read_safe_bags(content.octets()?);
        }
        if kind != ENCRYPTED_DATA {
            return None;
        }
        let mut encrypted = content.sequence()?;
        if encrypted.integer()? != 0 {
            return None;
        }
        let mut encrypted = encrypted.sequence()?;
        if encrypted.oid()? != DATA {
            return None;
        }
        let (scheme, parameters) = encrypted.algorithm()?;
        if encrypted.0.is_empty() {
            return Some(());
        }
        let plain = self.decrypt(&scheme, parameters, encrypted.context_tag_0()?)?;
        self.read_safe_bags(&plain)
    }

    fn read_safe_bags(&mut self, bags: &[u8]) -> Option<()> {
        let mut bags = DerReader(bags).sequence()?;
        while !bags.0.is_empty() {
            let mut bag = bags.sequence()?;
            let kind = bag.oid()?;
            let value = bag.context_tag_0()?;
            let mut reader = DerReader(value);
            if kind == KEY_BAG {
                self.contents.keys.push(Zeroizing::new(value.to_vec()));
            } else if kind == SHROUDED_KEY_BAG {
                let mut reader = reader.sequence()?;
                let (scheme, parameters) = reader.algorithm()?;
                let key = self.decrypt(&scheme, parameters, reader.octets()?)?;
                self.contents.keys.push(key);
            } else if kind == CERTIFICATE_BAG {
                let mut reader = reader.sequence()?;
                if reader.oid()? != X509 {
                    return None;
                }
                let certificate = DerReader(reader.context_tag_0()?).octets()?;
                self.contents.certificates.push(certificate.to_vec());
            }
        }
        Some(())
    }

    fn decrypt(
        &mut self,
        scheme: &Oid<'_>,
        mut parameters: DerReader<'_>,
        encrypted: &[u8],
    ) -> Option<Zeroizing<Vec<u8>>> {
        let mut parameters = parameters.sequence()?;
        if *scheme == PBES2 {
            return self.decrypt_pbes2(parameters, encrypted);
        }
        let legacy_schemes = [
            (oid!(1.2.840.113549.1.12.1.3), Cipher::TripleDes, 24),
            (oid!(1.2.840.113549.1.12.1.4), Cipher::TwoKeyTripleDes, 16),
            (oid!(1.2.840.113549.1.12.1.5), Cipher::Rc2, 16),
            (oid!(1.2.840.113549.1.12.1.6), Cipher::Rc2, 5),
        ];
        let (_, cipher, key_length) = legacy_schemes.into_iter().find(|(oid, ..)| oid == scheme)?;
        let salt = parameters.octets()?;
        let iterations = self.consume_iterations(parameters.integer()?)?;
        let sha1 = &digest::SHA1_FOR_LEGACY_USE_ONLY;
        let key = derive_key(sha1, KeyPurpose::Key, &self.utf16_password, salt, iterations, key_length);
        let iv =
            derive_key(sha1, KeyPurpose::InitializationVector, &self.utf16_password, salt, iterations, 8);
        cipher.decrypt(&key, &iv, encrypted)
    }

    /// Decrypts with PBES2 (RFC 8018, 6.2).
    fn decrypt_pbes2(
        &mut self,
        mut parameters: DerReader<'_>,
        encrypted: &[u8],
    ) -> Option<Zeroizing<Vec<u8>>> {
        let (kdf, mut reader) = parameters.algorithm()?;
        if kdf != PBKDF2 {
            return None;
        }
        let mut reader = reader.sequence()?;
        let salt = reader.octets()?;
        let iterations = self.consume_iterations(reader.integer()?)?;
        let mut prf = pbkdf2::PBKDF2_HMAC_SHA1;
        while !reader.0.is_empty() {
            let mut prf_reader = DerReader(reader.0);
            if let Some((prf_oid, _)) = prf_reader.algorithm() {
                let prfs = [
                    (oid!(1.2.840.113549.2.7), pbkdf2::PBKDF2_HMAC_SHA1),
                    (oid!(1.2.840.113549.2.9), pbkdf2::PBKDF2_HMAC_SHA256),
                    (oid!(1.2.840.113549.2.10), pbkdf2::PBKDF2_HMAC_SHA384),
                    (oid!(1.2.840.113549.2.11), pbkdf2::PBKDF2_HMAC_SHA512),
                ];
                prf = prfs.into_iter().find(|(oid, _)| *oid == prf_oid)?.1;
                break;
            }
            // The length of the key, which its cipher determines too.
            reader.integer()?;
        }
        let (scheme, mut iv_reader) = parameters.algorithm()?;
        let ciphers = [
            (oid!(2.16.840.1.101.3.4.1.2), Cipher::Aes128, 16),
            (oid!(2.16.840.1.101.3.4.1.22), Cipher::Aes192, 24),
            (oid!(2.16.840.1.101.3.4.1.42), Cipher::Aes256, 32),
            (oid!(1.2.840.113549.3.7), Cipher::TripleDes, 24),
        ];
        let (_, cipher, key_length) = ciphers.into_iter().find(|(oid, ..)| *oid == scheme)?;
        let mut key = Zeroizing::new(vec![0; key_length]);
        pbkdf2::derive(prf, iterations, salt, self.password, &mut key);
        cipher.decrypt(&key, iv_reader.octets()?, encrypted)
    }

    /// Subtracts `iterations` from those that are still allowed; `None` for 0 and for too many.
    fn consume_iterations(&mut self, iterations: u32) -> Option<NonZeroU32> {
        self.remaining_iterations = self.remaining_iterations.checked_sub(iterations)?;
        NonZeroU32::new(iterations)
    }
}

/// Ciphers, all in CBC mode with PKCS#7 padding.
#[derive(Clone, Copy)]
enum Cipher {
    Aes128,
    Aes192,
    Aes256,
    TripleDes,
    TwoKeyTripleDes,
    Rc2,
}

impl Cipher {
    fn decrypt(self, key: &[u8], iv: &[u8], encrypted: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let mut buffer = Zeroizing::new(encrypted.to_vec());
        let length = match self {
            Self::Aes128 => decrypt_aes(&AES_128, key, iv, &mut buffer),
            Self::Aes192 => decrypt_aes(&AES_192, key, iv, &mut buffer),
            Self::Aes256 => decrypt_aes(&AES_256, key, iv, &mut buffer),
            Self::TripleDes => decrypt_legacy::<des::TdesEde3>(key, iv, &mut buffer),
            Self::TwoKeyTripleDes => decrypt_legacy::<des::TdesEde2>(key, iv, &mut buffer),
            Self::Rc2 => decrypt_legacy::<rc2::Rc2>(key, iv, &mut buffer),
        }?;
        buffer.truncate(length);
        Some(buffer)
    }
}

/// Decrypts in place and returns the length of the plain text.
fn decrypt_aes(
    algorithm: &'static aws_lc_rs::cipher::Algorithm,
    key: &[u8],
    iv: &[u8],
    buffer: &mut [u8],
) -> Option<usize> {
    let key = PaddedBlockDecryptingKey::cbc_pkcs7(UnboundCipherKey::new(algorithm, key).ok()?).ok()?;
    let iv: [u8; 16] = iv.try_into().ok()?;
    key.decrypt(buffer, DecryptionContext::Iv128(FixedLength::from(iv))).ok().map(|buffer| buffer.len())
}

/// Like [`decrypt_aes`], with a cipher that only old archives use.
fn decrypt_legacy<C>(key: &[u8], iv: &[u8], buffer: &mut [u8]) -> Option<usize>
where
    C: cbc::cipher::BlockCipherDecrypt + cbc::cipher::KeyInit,
{
    let decryptor = Decryptor::<C>::new_from_slices(key, iv).ok()?;
    decryptor.decrypt_padded::<Pkcs7>(buffer).ok().map(<[u8]>::len)
}

/// Derives a key of `key_length` bytes from the password (RFC 7292, appendix B.2).
fn derive_key(
    algorithm: &'static digest::Algorithm,
    purpose: KeyPurpose,
    utf16_password: &[u8],
    salt: &[u8],
    iterations: NonZeroU32,
    key_length: usize,
) -> Zeroizing<Vec<u8>> {
    let block_length = algorithm.block_len();
    let repeat_to_blocks = |text: &[u8]| {
        let length = text.len().next_multiple_of(block_length);
        text.iter().copied().cycle().take(length).collect::<Vec<u8>>()
    };
    let mut input = Zeroizing::new(repeat_to_blocks(salt));
    input.extend_from_slice(&Zeroizing::new(repeat_to_blocks(utf16_password)));
    let diversifier = vec![purpose as u8; block_length];
    let mut key = Zeroizing::new(Vec::with_capacity(key_length));
    loop {
        let mut context = digest::Context::new(algorithm);
        context.update(&diversifier);
        context.update(&input);
        let mut hash = context.finish();
        for _ in 1..iterations.get() {
            hash = digest::digest(algorithm, hash.as_ref());
        }
        let hash = hash.as_ref();
        let remaining = key_length - key.len();
        key.extend_from_slice(&hash[..hash.len().min(remaining)]);
        if key.len() == key_length {
            return key;
        }
        // Each block of the input is increased by the hash, repeated to a block, plus one.
        let addend: Vec<u8> = hash.iter().copied().cycle().take(block_length).collect();
        for input_block in input.chunks_mut(block_length) {
            let mut carry = 1;
            for (byte, addend_byte) in input_block.iter_mut().zip(&addend).rev() {
                let sum = u16::from(*byte) + u16::from(*addend_byte) + carry;
                [_, *byte] = sum.to_be_bytes();
                carry = sum >> 8;
            }
        }
    }
}
