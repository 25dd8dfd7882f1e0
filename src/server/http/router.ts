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

interface Branch<P extends Place> {
  readonly byMethod: ReadonlyMap<string, P>
  /** Names of the parameters, and their positions in the path. */
  readonly names: readonly (readonly [string, number])[]
  readonly rank: number
}

interface Step<P extends Place> {
  readonly named: Map<string, Step<P>>
  any?: Step<P>
  readonly here: Branch<P>[]
  readonly below: Branch<P>[]
}

/** The first of several matches wins. */
export function createRouter<P extends Place>(places: readonly P[]): Router<P> {
  const root: Step<P> = emptyStep()
  for (const [path, all] of Map.groupBy(places, ({ path }) => path)) addBranch(root, path, all, places)

  return (method, path) => {
    const steps = path.split('/')
    const branches: Branch<P>[] = []
    collect(root, steps, 1, branches)
    if (branches.length > 1) branches.sort((one, other) => one.rank - other.rank)
    const wanted = method === 'HEAD' ? 'GET' : method
    for (const { byMethod, names } of branches) {
      const place = byMethod.get(wanted)
      if (place) return { place, params: paramsOf(names, steps) }
    }
    const fitting = branches.flatMap(({ byMethod }) => [...byMethod.values()])
    // A place with a wildcard counts only if nothing else matches.
    const named = fitting.filter((each) => !each.path.endsWith('*'))
    const found = named.length > 0 ? named : fitting
    const [place] = found
    return place && { place, allow: methodsOf(found.map((each) => each.method)) }
  }
}

function emptyStep<P extends Place>(): Step<P> {
  return { named: new Map(), here: [], below: [] }
}

function addBranch<P extends Place>(
  root: Step<P>,
  path: string,
  all: readonly P[],
  places: readonly P[],
): void {
  const [first] = all
  if (!first) return
  const byMethod = new Map(all.map((place) => [place.method, place]))
  const steps = path.split('/')
  const names = steps.flatMap((step, at) => (step.startsWith(':') ? [[step.slice(1), at] as const] : []))
  const branch = { byMethod, names, rank: places.indexOf(first) }
  let step = root
  for (const name of steps.slice(1)) {
    if (name === '*') {
      step.below.push(branch)
      return
    }
    let next = name.startsWith(':') ? step.any : step.named.get(name)
    if (!next) {
      next = emptyStep()
      if (name.startsWith(':')) step.any = next
      else step.named.set(name, next)
    }
    step = next
  }
  step.here.push(branch)
}

/**
 * Finds the branches that match the rest of a path: `/a/*` also matches `/a`, and parameters are not empty.
 */
function collect<P extends Place>(
  { named, any, here, below }: Step<P>,
  steps: readonly string[],
  at: number,
  found: Branch<P>[],
): void {
  found.push(...below)
  const step = steps[at]
  if (step === undefined) {
    found.push(...here)
    return
  }
  const next = named.get(step)
  if (next) collect(next, steps, at + 1, found)
  if (any && step !== '') collect(any, steps, at + 1, found)
}

function paramsOf(names: Branch<Place>['names'], steps: readonly string[]): Record<string, string> {
  const params: Record<string, string> = {}
  for (const [name, at] of names) params[name] = decoded(steps[at] ?? '')
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

function methodsOf(methods: readonly string[]): string {
  return [...new Set([...(methods.includes('GET') ? ['HEAD'] : []), ...methods, 'OPTIONS'])].join(', ')
}
