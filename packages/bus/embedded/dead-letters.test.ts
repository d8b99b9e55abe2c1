import { deadLetterContract } from '../contract/dead-letters.ts';
import { openEmbeddedTransport } from '../test/embedded.ts';

deadLetterContract('embedded', openEmbeddedTransport);
