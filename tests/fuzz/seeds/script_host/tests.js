pm.test('a', () => pm.expect(pm.response.json()).to.eql({})); tests['b'] = responseCode.code === 200;
