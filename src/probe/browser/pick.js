// Picks an option of a `select` as a person would, and tells the page; answers why not, or nothing.
const [field, by, value] = arguments;
if (field.tagName !== 'SELECT') return `it is no select, but ${field.tagName.toLowerCase()}`;
const squeeze = (text) => (text || '').replace(/\s+/g, ' ').trim();
const options = [...field.options];
const fits = { value: (o) => o.value === value, label: (o) => squeeze(o.label || o.text) === squeeze(value), index: (o) => o.index === value };
const option = options.find(fits[by]);
if (!option) return `it has no option with ${by} \`${value}\` among ${options.length}`;
if (option.disabled || option.parentElement.disabled) return `its option with ${by} \`${value}\` is disabled`;
if (option.selected && !field.multiple) return null;
field.focus();
option.selected = field.multiple ? !option.selected : true;
field.dispatchEvent(new Event('input', { bubbles: true }));
field.dispatchEvent(new Event('change', { bubbles: true }));
return null;
