// This is small and runs while the rest of the console arrives.
import './begin.ts';

void import('./app.tsx');
