/** Formats a count with its noun: `1 lesson`, `12 lessons`; `10,000+ lessons` if there may be more. */
export function counted(count: number, noun: string, isExact = true): string {
  const shown = isExact ? count : `${count.toLocaleString('en')}+`
  const several = noun.endsWith('ry') ? `${noun.slice(0, -1)}ies` : `${noun}s`
  return `${shown} ${count === 1 && isExact ? noun : several}`
}
