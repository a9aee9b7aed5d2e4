// The glossary works without this script; with it, its search box answers while one types.

import { at, field } from "../core/dom.js";
import { answerWhileTyping } from "../find/finding.js";

answerWhileTyping(field("sought"), at("answers"), { status: at("sought-count") });
document.body.dataset.ready = "1";
