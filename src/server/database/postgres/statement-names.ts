const mostNames = 200
const mostCounted = 2000
const usesBeforeName = 3

/**
 * Names for the statements that are used again and again, to be prepared once on each connection: a text gets its name
 * at its third use. PostgreSQL keeps what is prepared as long as the connection lives, so names end at 200; later texts
 * have none and are parsed each time.
 */
export function statementNames(): (text: string) => string | undefined {
  const names = new Map<string, string>()
  const uses = new Map<string, number>()

  return (text) => {
    const known = names.get(text)
    if (known !== undefined || names.size >= mostNames) return known
    const count = (uses.get(text) ?? 0) + 1
    if (count < usesBeforeName) {
      if (uses.size >= mostCounted) uses.clear()
      uses.set(text, count)
      return undefined
    }
    uses.delete(text)
    const name = `learnctl_${names.size}`
    names.set(text, name)
    return name
  }
}
