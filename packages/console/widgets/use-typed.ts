import { useEffect, useRef, useState } from 'react';

/**
 * What is typed into a field whose value is elsewhere, such as in the address. What was typed since a text was sent there stays when that
 * text arrives as the value; any other value takes the place of what was typed.
 */
export function useTyped(value: string, onChange: (value: string) => void) {
  const [typed, setTyped] = useState(value);
  const sent = useRef(value);
  useEffect(() => {
    if (value !== sent.current) setTyped(value);
    sent.current = value;
  }, [value]);
  const send = (text: string) => {
    sent.current = text;
    onChange(text);
  };
  return { typed, setTyped, send };
}
