//! The packages that scripts may require.

use super::sandbox_tests::{run_in, sandbox};

#[test]
fn every_package_can_be_required_and_used() {
    let mut sandbox = sandbox();
    for (code, expected) in [
        ("require('lodash').chunk([1, 2, 3], 2)", "[[1,2],[3]]"),
        ("_.get({a: {b: 2}}, 'a.b')", "2"),
        ("require('moment')('2026-11-27').add(1, 'day').format('YYYY-MM-DD')", "\"2026-11-28\""),
        (
            "CryptoJS.SHA256('a').toString()",
            "\"ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb\"",
        ),
        ("require('crypto-js').HmacSHA256('a', 'k').toString().length", "64"),
        ("require('cheerio').load('<p class=x>hi</p>')('.x').text()", "\"hi\""),
        ("new (require('ajv'))().validate({type: 'number'}, 1)", "true"),
        ("tv4.validate('x', {type: 'number'})", "false"),
        ("require('csv-parse/lib/sync')('a,b\\n1,2', {columns: true})", "[{\"a\":\"1\",\"b\":\"2\"}]"),
        ("require('uuid').v4().length", "36"),
        ("xml2Json('<a><b>1</b></a>')", "{\"a\":{\"b\":\"1\"}}"),
        ("require('url').parse('http://a.test/x?y=1').pathname", "\"/x\""),
        ("require('querystring').stringify({a: 'b c'})", "\"a=b%20c\""),
        ("require('util').format('%s', 1)", "\"1\""),
        ("require('path').join('a', '..', 'b')", "\"b\""),
        ("require('buffer').Buffer.from('hi').toString('base64')", "\"aGk=\""),
        ("Buffer.from('aGk=', 'base64').toString()", "\"hi\""),
        ("require('atob')('aGk=')", "\"hi\""),
        ("btoa('hi')", "\"aGk=\""),
        ("typeof require('assert').ok", "\"function\""),
        ("typeof new (require('events'))().on", "\"function\""),
        ("require('punycode').toASCII('bücher.test')", "\"xn--bcher-kva.test\""),
        ("typeof require('stream').Readable", "\"function\""),
        ("typeof require('string_decoder').StringDecoder", "\"function\""),
        ("typeof require('timers').setTimeout", "\"function\""),
        ("typeof require('backbone').Model", "\"function\""),
        ("new (require('postman-collection').Url)('http://a.test/x').getHost()", "\"a.test\""),
        ("require('chai').expect(1).to.equal(1) && 1", "1"),
        ("pm.expect(pm.response).to.have.jsonSchema({type: 'object', required: ['a']}) && 1", "1"),
        ("pm.require('lodash').VERSION.split('.')[0]", "\"4\""),
    ] {
        let outcome =
            run_in(&mut sandbox, &format!("pm.environment.set('r', JSON.stringify({code}) ?? 'nothing')"));
        assert_eq!(outcome.error, None, "{code}");
        assert_eq!(
            outcome.scopes.as_ref().unwrap().environment.last().unwrap().1.as_str(),
            Some(expected),
            "{code}"
        );
    }
}
