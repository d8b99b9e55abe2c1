import { describe } from '@jest/globals';
import { describeFolderUpload } from './test/folder-upload.ts';

describe('an upload of a folder', () => describeFolderUpload(100));
