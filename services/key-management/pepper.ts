import { z } from 'zod';

/** The secret that API keys are hashed with. */
export const PepperVariables = z.object({
  API_KEY_PEPPER: z
    .string()
    .refine((pepper) => Buffer.byteLength(pepper) >= 32, 'must have at least 32 bytes')
    .meta({
      description:
        'The secret that API keys are hashed with, 32 bytes or more. Keys made under another one are unknown.',
    }),
});
