import { METHOD_NAME_ALL } from 'hono/router'
import { RegExpRouter } from 'hono/router/reg-exp-router'
import { SmartRouter } from 'hono/router/smart-router'
import { TrieRouter } from 'hono/router/trie-router'

/** What answers at a path, by method; the path has `:name` for each parameter, and may end in `*`. */
export interface Place {
  readonly method: string
  readonly path: string
}

/** What a request's path and method lead to. */
export type Found<P extends Place> =
  | {
      readonly place: P
      /** What stands in the path where the place has `:name`, decoded. */
      readonly params: Readonly<Record<string, string>>
      readonly allow?: never
    }
  /** There is something at the path, but not for this method: the methods that it takes, and one of its places. */
  | { readonly place: P; readonly allow: string; readonly params?: never }

/** Finds the place for a method and a path; undefined where nothing is at the path. HEAD leads to where GET does. */
export type Router<P extends Place> = (method: string, path: string) => Found<P> | undefined

/** A router to these places; where several fit, the one that stands first. */
export function createRouter<P extends Place>(places: readonly P[]): Router<P> {
  const router = new SmartRouter<Map<string, P>>({ routers: [new RegExpRouter(), new TrieRouter()] })
  for (const [path, all] of Map.groupBy(places, ({ path }) => path)) {
    router.add(METHOD_NAME_ALL, path, new Map(all.map((place) => [place.method, place])))
  }
  if (places.length === 0) return () => undefined

  return (method, path) => {
    const wanted = method === 'HEAD' ? 'GET' : method
    const [matches, parts] = router.match(METHOD_NAME_ALL, path)
    for (const [byMethod, names] of matches) {
      const place = byMethod.get(wanted)
      if (place) return { place, params: paramsOf(names, parts) }
    }
    const fitting = matches.flatMap(([byMethod]) => [...byMethod.values()])
    // What answers at any path says nothing of this one, unless nothing else is there.
    const named = fitting.filter((each) => !each.path.endsWith('*'))
    const places = named.length > 0 ? named : fitting
    const [place] = places
    return place && { place, allow: methodsOf(places.map((each) => each.method)) }
  }
}

/** The parameters themselves, or where in `parts` each of them stands. */
function paramsOf(
  names: Readonly<Record<string, string | number>>,
  parts: readonly string[] = [],
): Record<string, string> {
  const params: Record<string, string> = {}
  for (const name in names) {
    const value = names[name]
    params[name] = decoded((typeof value === 'number' ? parts[value] : value) ?? '')
  }
  return params
}

/** As it came where it is no percent-encoded text. */
function decoded(text: string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function methodsOf(methods: readonly string[]): string {
  return [...new Set([...(methods.includes('GET') ? ['HEAD'] : []), ...methods, 'OPTIONS'])].join(', ')
}
