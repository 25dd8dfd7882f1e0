import { timeText } from '../../codec/time-text.ts'
import type { HttpRequest, HttpResponse, Transport } from '../../contract/http.ts'
import { oauthPaths } from '../../contract/oauth.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Principal } from '../access/principal.ts'
import { ProblemError, shuttingDown } from '../problem-error.ts'
import { answer } from './answer.ts'
import type { Route } from './handler.ts'
import { addRateLimitHeaders, networkOf, type RateLimits, rateLimitsOf } from './limits.ts'
import { type LogEntry, loggedPath } from './log.ts'
import { type Reply, refusalOf } from './reply.ts'
import { patchTypes } from './request-body.ts'
import { type AppOptions, everyHeader, maxUrlBytes, type RequestContext } from './request-context.ts'
import { answerWebRoute, issuerOf, type WebRoute } from './web-route.ts'

/** Target of `OPTIONS *`, as the socket writes it; it is about the whole server. */
const serverPath = '/*'
/** RFC 9110 §9.2.1. */
const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])
/** Changes of these do not affect credentials, so that cached ones stay valid. */
const withoutCredentials = /^\/v1\/(courses|lessons|enrollments|learners|progress)(\/|$)/
const everyMethod = 'HEAD, GET, POST, PUT, PATCH, DELETE, OPTIONS'

/**
 * Returns the routes of the resource of a path; for a plain request, possibly only those for plain requests.
 */
type RoutesOf = (path: string, isPlain: boolean) => readonly Route[] | Promise<readonly Route[]>

type Place =
  | { readonly method: string; readonly path: string; readonly route: Route; readonly webRoute?: never }
  | { readonly method: string; readonly path: string; readonly route?: never; readonly webRoute: WebRoute }

/** Converts errors to problem details, and logs each request. Loads the routes of a resource when first needed. */
export function createApp(
  app: AppOptions,
  routesOf: RoutesOf,
  webRoutes: readonly WebRoute[] = [],
): Transport {
  const limits = rateLimitsOf(app)
  const answerTo = createAnswerer(app, routesOf, webRoutes, limits)

  return async (request) => {
    // process.uptime() is monotonic and, unlike performance, loads no module.
    const started = process.uptime()
    const context = contextOf(app, request)
    const { path } = context
    let reply: Reply
    try {
      reply = await answerTo(context)
    } catch (error) {
      reply = refusalOf(context, error)
    }
    // Drop cached credentials after a write, before its response is sent.
    if (!safeMethods.has(request.method) && !withoutCredentials.test(path)) limits.credentials.forget()
    app.log(logEntryOf(context, reply, (process.uptime() - started) * 1000))
    return responseOf(app, limits, context, reply)
  }
}

function logEntryOf(
  { raw, path, requestId, now }: RequestContext,
  { status, code, principal, cause }: Reply,
  durationMs: number,
): LogEntry {
  return {
    time: timeText(now),
    requestId,
    method: raw.method,
    path: loggedPath(path),
    status,
    durationMs,
    userId: principal?.userId ?? undefined,
    credential: principal?.credential ?? undefined,
    code,
    cause,
  }
}

/** With the common headers; HEAD gets no body. */
function responseOf(
  app: AppOptions,
  limits: RateLimits,
  context: RequestContext,
  reply: Reply,
): HttpResponse {
  const isHead = context.raw.method === 'HEAD'
  const headers: Record<string, string> = { ...everyHeader, ...reply.headers }
  headers['x-request-id'] = context.requestId
  const challenge = challengeOf(app, context, reply)
  if (challenge !== undefined) headers['www-authenticate'] = challenge
  addRateLimitHeaders(headers, limits, reply.bucket ?? { kind: 'anonymous', name: context.address })
  if (isHead && typeof reply.body === 'string') {
    headers['content-length'] = String(Buffer.byteLength(reply.body))
  }
  return { status: reply.status, headers, body: isHead ? discardBody(reply.body) : reply.body }
}

/** RFC 9728 §5.1. */
function challengeOf(app: AppOptions, context: RequestContext, { headers }: Reply): string | undefined {
  const challenge = headers['www-authenticate']
  if (!challenge?.startsWith('Bearer ')) return undefined
  const metadata = issuerOf(app, context) + oauthPaths.resourceMetadata
  return `${challenge}, resource_metadata="${metadata}"`
}

/** A stream that is not read would keep its snapshot open. */
function discardBody(body: Reply['body']): null {
  if (body !== null && typeof body !== 'string') void body[Symbol.asyncIterator]().return?.()
  return null
}

export type Answerer = (context: RequestContext, principal?: Principal) => Reply | Promise<Reply>

export function createAnswerer(
  app: AppOptions,
  routesOf: RoutesOf,
  webRoutes: readonly WebRoute[],
  limits = rateLimitsOf(app),
): Answerer {
  const routers = new WeakMap<readonly Route[], Router<Place>>()
  const webPlaces = webRoutes.map((webRoute): Place => ({ ...toPlace(webRoute), webRoute }))

  function find(routes: readonly Route[], { raw, path }: RequestContext): Found<Place> | undefined {
    let router = routers.get(routes)
    if (!router) {
      const own = routes.flatMap((route): Place[] =>
        methodsFor(route.operation).map((method) => ({ ...toPlace(route.operation), method, route })),
      )
      router = createRouter([...own, ...webPlaces])
      routers.set(routes, router)
    }
    return router(raw.method, path)
  }

  function answerFrom(
    found: Found<Place> | undefined,
    context: RequestContext,
    principal: Principal | undefined,
  ): Reply | Promise<Reply> {
    const fault = findFault(app, context, found)
    if (!fault && context.raw.method === 'OPTIONS') return allowedMethods(found?.allow)
    if (fault || !found?.params) {
      return refusalOf(context, fault, found?.place.webRoute?.refuse)
    }
    const { place, params } = found
    return place.route
      ? answer(principal ? { ...app, principal } : app, limits, place.route, context, params)
      : answerWebRoute(app, limits, place.webRoute, context, params)
  }

  async function search(
    routes: readonly Route[] | Promise<readonly Route[]>,
    isPlain: boolean,
    context: RequestContext,
    principal: Principal | undefined,
  ): Promise<Reply> {
    let found = find(await routes, context)
    if (isPlain && !found?.params) found = find(await routesOf(context.path, false), context)
    return answerFrom(found, context, principal)
  }

  return (context, principal) => {
    const isPlain = context.search === '' && safeMethods.has(context.raw.method)
    const routes = routesOf(context.path, isPlain)
    // In a server all routes are loaded, so nothing is awaited.
    const found = routes instanceof Promise ? undefined : find(routes, context)
    return found?.params ? answerFrom(found, context, principal) : search(routes, isPlain, context, principal)
  }
}

/** PATCH with a merge patch (RFC 7396) is an alias of PUT. */
function methodsFor({ method, merge }: Operation): string[] {
  return merge ? [method, 'PATCH'] : [method]
}

/** RFC 9110 §9.3.7, RFC 5789 §3.1. */
function allowedMethods(allow = everyMethod): Reply {
  const patch = allow.includes('PATCH') ? { 'accept-patch': patchTypes.join(', ') } : {}
  return { status: 204, headers: { allow, ...patch }, body: null }
}

function toPlace({ method, path }: { method: string; path: string }): { method: string; path: string } {
  return { method, path: path.replaceAll(/\{(\w+)\}/g, ':$1') }
}

function contextOf(app: AppOptions, raw: HttpRequest): RequestContext {
  const target = raw.url.slice(raw.url.indexOf('/', 8))
  const question = target.indexOf('?')
  const path = question < 0 ? target : target.slice(0, question)
  return {
    raw,
    requestId: app.newId('req'),
    path,
    search: target.slice(path.length + 1),
    address: networkOf(raw.address ?? 'unknown'),
    now: app.now(),
  }
}

function findFault(
  { isClosing }: AppOptions,
  { raw: { method }, path, search }: RequestContext,
  found: Found<Place> | undefined,
): ProblemError | undefined {
  if (isClosing?.()) {
    return shuttingDown()
  }
  if (path.length + search.length >= maxUrlBytes) {
    return new ProblemError('uri_too_long', `The path and query are longer than ${maxUrlBytes} bytes.`)
  }
  if (method === 'OPTIONS' && (found || path === serverPath)) return undefined
  if (!found) return new ProblemError('not_found', `Path ${path} not found.`)
  if (found.params) return undefined
  const { allow } = found
  const detail = `${method} is not supported here; use ${allow}.`
  return new ProblemError('method_not_allowed', detail, { headers: { allow } })
}

/** The path has `:name` for each parameter, and may end in `*`. */
export interface RoutePlace {
  readonly method: string
  readonly path: string
}

export type Found<P extends RoutePlace> =
  | {
      readonly place: P
      readonly params: Readonly<Record<string, string>>
      readonly allow?: never
    }
  /** The path exists, but not for this method. */
  | { readonly place: P; readonly allow: string; readonly params?: never }

/** Undefined for an unknown path. HEAD is routed like GET. */
export type Router<P extends RoutePlace> = (method: string, path: string) => Found<P> | undefined

interface Node<P extends RoutePlace> {
  readonly named: Map<string, Node<P>>
  /** Any segment but an empty one. */
  any?: Node<P>
  rest?: Node<P>
  readonly places: P[]
}

/** A path that is spelled out goes before one with a parameter or `*`. */
export function createRouter<P extends RoutePlace>(places: readonly P[]): Router<P> {
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
    return { place, allow: methodList(methods) }
  }
}

function nodeAt<P extends RoutePlace>(root: Node<P>, path: string): Node<P> {
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

/** `/a/*` also matches `/a`. */
function collect<P extends RoutePlace>(
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

/** Unchanged if it is malformed or would contain U+0000, which PostgreSQL refuses. */
function decoded(text: string): string {
  if (!text.includes('%')) return text
  try {
    const plain = decodeURIComponent(text)
    return plain.includes('\0') ? text : plain
  } catch {
    return text
  }
}

function methodList(methods: readonly string[]): string {
  return [...new Set([...(methods.includes('GET') ? ['HEAD'] : []), ...methods, 'OPTIONS'])].join(', ')
}
