// What the scripts of the pages do. Every page can be read and used without them.
import { keepAgesTrue } from "./ages.js";
import { keepChoices } from "./choices.js";
import { prepareForm } from "./form.js";
import { listenToKeys } from "./keys.js";
import { showLiveState } from "./live_state.js";
import { preparePalette } from "./palette.js";
import { retryUntilAvailable } from "./retry.js";
import { zoomScreenshots } from "./zoom.js";

keepAgesTrue();
keepChoices();
listenToKeys();
prepareForm();
preparePalette();
showLiveState();
retryUntilAvailable();
zoomScreenshots();
