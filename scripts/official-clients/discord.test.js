// The claims about the stand-in for Discord.

import './discord/gateway.js';
import './discord/messages.js';
import './discord/interactions.js';
import { prove } from './lib/claim.js';

prove('discord');
