/** `1 lesson`, `12 lessons`; where there may be more, `10,000+ lessons`. */
export function counted(count: number, noun: string, isExact = true): string {
  const shown = isExact ? count : `${count.toLocaleString('en')}+`
  return `${shown} ${noun}${count === 1 && isExact ? '' : 's'}`
}
