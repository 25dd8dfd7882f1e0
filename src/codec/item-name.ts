interface NamedItem {
  readonly itemId: string
  readonly label: string
}

/** `name (id)`, or the id alone; `readItemName` reads both parts. */
export function itemNameOf(item: NamedItem): string {
  const { label, itemId } = item
  if (label !== '' && label !== itemId) return withId(item)
  return readItemName(itemId).itemId === itemId ? itemId : withId({ label: itemId, itemId })
}

/** Reads the name of an item's column. The id may have brackets in pairs; without an id, the name is the id. */
export function readItemName(name: string): NamedItem {
  const half = name.slice(0, (name.length - 3) / 2)
  if (half !== '' && name === `${half} (${half})`) return { itemId: half, label: half }
  const start = name.endsWith(')') ? idStart(name) : -1
  return start <= 0
    ? { itemId: name, label: name }
    : { itemId: name.slice(start + 2, -1), label: name.slice(0, start) }
}

/** Returns where ` (id)` begins: the bracket whose pair ends the name; the last one if brackets are not in pairs. -1 for none. */
function idStart(name: string): number {
  let depth = 0
  for (let index = name.length - 1; index >= 0; index -= 1) {
    if (name[index] === ')') depth += 1
    if (name[index] === '(') depth -= 1
    if (depth > 0) continue
    return name[index - 1] === ' ' && index + 2 < name.length ? index - 1 : name.lastIndexOf(' (')
  }
  return name.lastIndexOf(' (')
}

export function withId({ label, itemId }: NamedItem): string {
  return `${label} (${itemId})`
}
