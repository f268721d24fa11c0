// Selects an option of a `select` as a user would, and fires its events. Returns why it failed, or null.
// ECMAScript 5, which all browsers support.
var field = arguments[0], by = arguments[1], value = arguments[2];
if (field.tagName !== 'SELECT') return 'it is no select, but ' + field.tagName.toLowerCase();
var squeeze = function (text) { return (text || '').replace(/\s+/g, ' ').trim(); };
var fire = function (name) {
  var event = document.createEvent('Event');
  event.initEvent(name, true, false);
  field.dispatchEvent(event);
};
var matchers = {
  value: function (option) { return option.value === value; },
  label: function (option) { return squeeze(option.label || option.text) === squeeze(value); },
  index: function (option) { return option.index === value; }
};
var option = Array.prototype.filter.call(field.options, matchers[by])[0];
var description = 'option with ' + by + ' `' + value + '`';
if (!option) return 'it has no ' + description + ' among ' + field.options.length;
if (option.disabled || option.parentElement.disabled) return 'its ' + description + ' is disabled';
if (option.selected && !field.multiple) return null;
field.focus();
option.selected = field.multiple ? !option.selected : true;
fire('input');
fire('change');
return null;
