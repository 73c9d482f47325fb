// The claims about the stand-in for Slack. They have a process of their own, as
// the clients of the two platforms bring versions of one HTTP library that share
// a global.

import './slack/socket.js';
import './slack/web.js';
import './slack/bolt.js';
import { prove } from './lib/claim.js';

prove('slack');
