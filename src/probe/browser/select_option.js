// Picks an option of a `select` as a person would, and tells the page; answers why not, or nothing. ECMAScript 5, as
// all browsers understand it.
var field = arguments[0], by = arguments[1], value = arguments[2];
if (field.tagName !== 'SELECT') return 'it is no select, but ' + field.tagName.toLowerCase();
var squeeze = function (text) { return (text || '').replace(/\s+/g, ' ').trim(); };
var tell = function (name) {
  var event = document.createEvent('Event');
  event.initEvent(name, true, false);
  field.dispatchEvent(event);
};
var fits = {
  value: function (option) { return option.value === value; },
  label: function (option) { return squeeze(option.label || option.text) === squeeze(value); },
  index: function (option) { return option.index === value; }
};
var option = Array.prototype.filter.call(field.options, fits[by])[0];
var which = 'option with ' + by + ' `' + value + '`';
if (!option) return 'it has no ' + which + ' among ' + field.options.length;
if (option.disabled || option.parentElement.disabled) return 'its ' + which + ' is disabled';
if (option.selected && !field.multiple) return null;
field.focus();
option.selected = field.multiple ? !option.selected : true;
tell('input');
tell('change');
return null;
