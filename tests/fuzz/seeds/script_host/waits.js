pm.sendRequest('http://a', (e, r) => pm.test('x', () => {})); setTimeout(() => console.log([1]), 5)
