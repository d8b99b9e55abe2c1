import { busContract } from '../contract/index.ts';
import { openEmbeddedTransport } from '../test/embedded.ts';

busContract('embedded', openEmbeddedTransport);
