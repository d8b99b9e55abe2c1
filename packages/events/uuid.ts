import { z } from 'zod';

/** Any uuid that has the form, of whatever version, in lower case: whether there is such a thing is for its owner to say. */
export const Uuid = z
  .guid({ error: ({ code }) => (code === 'invalid_format' ? 'must be a UUID' : undefined) })
  .toLowerCase();
