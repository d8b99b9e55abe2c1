import { describe, jest } from '@jest/globals';
import { describeFolderUpload } from './test/folder-upload.ts';

jest.setTimeout(60 * 60_000);

describe('an upload of a large folder', () => describeFolderUpload(10_000));
