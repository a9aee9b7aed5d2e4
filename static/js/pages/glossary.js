// The glossary works without this script; with it, its search box answers while one types.

import { at, field } from "./dom.js";
import { answerWhileTyping } from "./finding.js";

answerWhileTyping(field("sought"), at("answers"), { status: at("sought-count") });
document.body.dataset.ready = "1";
