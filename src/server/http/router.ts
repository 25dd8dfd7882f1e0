/** The path has `:name` for each parameter, and may end in `*`. */
export interface Place {
  readonly method: string
  readonly path: string
}

export type Found<P extends Place> =
  | {
      readonly place: P
      /** Decoded values of the path's parameters. */
      readonly params: Readonly<Record<string, string>>
      readonly allow?: never
    }
  /** The path exists, but not for this method: the allowed methods, and one of its places. */
  | { readonly place: P; readonly allow: string; readonly params?: never }

/** Undefined for an unknown path. HEAD is routed like GET. */
export type Router<P extends Place> = (method: string, path: string) => Found<P> | undefined

/** A node of the tree of path segments. */
interface Node<P extends Place> {
  readonly named: Map<string, Node<P>>
  /** Any segment but an empty one. */
  any?: Node<P>
  /** All paths from here on. */
  rest?: Node<P>
  readonly places: P[]
}

/** A path that is spelled out goes before one with a parameter or `*`. */
export function createRouter<P extends Place>(places: readonly P[]): Router<P> {
  const root: Node<P> = { named: new Map(), places: [] }
  for (const place of places) nodeAt(root, place.path).places.push(place)

  return (method, path) => {
    const segments = path.split('/')
    const found: P[] = []
    collect(root, segments, 1, found)
    const wanted = method === 'HEAD' ? 'GET' : method
    const match = found.find((place) => place.method === wanted)
    if (match) return { place: match, params: paramsOf(match.path, segments) }
    const [place] = found
    if (!place) return undefined
    // A path that is spelled out hides the methods of `*`.
    const isWild = place.path.endsWith('*')
    const methods = found.filter((each) => isWild || !each.path.endsWith('*')).map((each) => each.method)
    return { place, allow: allowedMethods(methods) }
  }
}

function nodeAt<P extends Place>(root: Node<P>, path: string): Node<P> {
  let node = root
  for (const name of path.split('/').slice(1)) {
    const empty: Node<P> = { named: new Map(), places: [] }
    if (name === '*') node = node.rest ??= empty
    else if (name.startsWith(':')) node = node.any ??= empty
    else {
      const next = node.named.get(name) ?? empty
      node.named.set(name, next)
      node = next
    }
  }
  return node
}

/** Finds the places that match the rest of a path: `/a/*` also matches `/a`. */
function collect<P extends Place>(
  { named, any, rest, places }: Node<P>,
  segments: readonly string[],
  at: number,
  found: P[],
): void {
  const segment = segments[at]
  if (segment === undefined) found.push(...places)
  else {
    const next = named.get(segment)
    if (next) collect(next, segments, at + 1, found)
    if (any && segment !== '') collect(any, segments, at + 1, found)
  }
  if (rest) found.push(...rest.places)
}

function paramsOf(path: string, segments: readonly string[]): Record<string, string> {
  const params: Record<string, string> = {}
  if (!path.includes(':')) return params
  for (const [at, name] of path.split('/').entries()) {
    if (name.startsWith(':')) params[name.slice(1)] = decoded(segments[at] ?? '')
  }
  return params
}

/** Percent-decodes a text; unchanged if it is malformed or would contain U+0000, which PostgreSQL refuses. */
function decoded(text: string): string {
  if (!text.includes('%')) return text
  try {
    const plain = decodeURIComponent(text)
    return plain.includes('\0') ? text : plain
  } catch {
    return text
  }
}

function allowedMethods(methods: readonly string[]): string {
  return [...new Set([...(methods.includes('GET') ? ['HEAD'] : []), ...methods, 'OPTIONS'])].join(', ')
}
