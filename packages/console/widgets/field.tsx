import type { ReactNode } from 'react';

interface Props {
  readonly label: ReactNode;
  readonly className?: string;
  /** The control. */
  readonly children: ReactNode;
}

/** A control under its label. */
export function Field({ label, className, children }: Props) {
  return (
    <label className={className === undefined ? 'field' : `field ${className}`}>
      <span className="field-label">{label}</span>
      {children}
    </label>
  );
}
