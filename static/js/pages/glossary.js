// The glossary works without this script; with it, its search box answers while one types.

import { answerWhileTyping } from "./finding.js";
import { at, field } from "./found.js";

answerWhileTyping(field("sought"), at("answers"), { status: at("sought-count") });
document.body.dataset.ready = "1";
