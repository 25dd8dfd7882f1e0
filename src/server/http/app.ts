import { timeText } from '../../codec/time-text.ts'
import type { HttpRequest, Transport } from '../../contract/http.ts'
import { oauthPaths } from '../../contract/oauth.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Principal } from '../access/principal.ts'
import { ProblemError, shuttingDown } from '../problem/problem-error.ts'
import { answer } from './answer.ts'
import { answerEndpoint, type Endpoint, issuerOf } from './endpoint.ts'
import type { Route } from './handler.ts'
import { loggedPath } from './logged-path.ts'
import { networkOf } from './network.ts'
import type { Reply } from './reply.ts'
import { patchTypes } from './request-body.ts'
import {
  type Answered,
  type AppOptions,
  addLimit,
  everyHeader,
  maximumUrlBytes,
  type RequestContext,
  rateLimitsOf,
  refused,
} from './request-context.ts'
import { createRouter, type Found, type Router } from './router.ts'

/** How the socket writes the target of `OPTIONS *`, which is about the server as a whole. */
const anyPath = '/*'
/** Methods that change nothing (RFC 9110 §9.2.1). */
const reads: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])
/** Resources of which none says who may do what: what is known of credentials stays true whatever is written to them. */
const teaching = /^\/v1\/(courses|lessons|enrollments|learners|progress)(\/|$)/
const everyMethod = 'HEAD, GET, POST, PUT, PATCH, DELETE, OPTIONS'

/** The routes of the resource that a path is about; where it is asked plainly, those that answer that may be enough. */
export type RoutesOf = (path: string, isPlain: boolean) => readonly Route[] | Promise<readonly Route[]>

/** Something that answers: an operation of the API, or an endpoint beside it. */
type Place =
  | { readonly method: string; readonly path: string; readonly route: Route; readonly endpoint?: never }
  | { readonly method: string; readonly path: string; readonly route?: never; readonly endpoint: Endpoint }

/**
 * The server, as a transport: it answers each request, faults as problem details, and logs it. The routes of a
 * resource are asked for when the first request comes to it.
 */
export function createApp(
  app: AppOptions,
  routesOf: RoutesOf,
  endpoints: readonly Endpoint[] = [],
): Transport {
  const limits = rateLimitsOf(app)
  const answerTo = answererOf(app, routesOf, endpoints, limits)

  return async (request) => {
    // By the uptime, which never goes back either: `performance` is loaded when it is first looked at.
    const started = process.uptime()
    const context = contextOf(app, request)
    const { path, requestId, now } = context
    let answered: Answered
    try {
      answered = await answerTo(context)
    } catch (error) {
      answered = refused(context, error)
    }
    const { reply, principal } = answered
    // Whatever it wrote, nobody acts on what was true before once it has been answered.
    if (!reads.has(request.method) && !teaching.test(path)) limits.credentials.forget()
    const logged = loggedPath(app.database, path)
    app.log({
      time: timeText(now),
      requestId,
      method: request.method,
      path: typeof logged === 'string' ? logged : await logged,
      status: reply.status,
      durationMs: (process.uptime() - started) * 1000,
      userId: principal?.userId,
      credential: principal?.credential,
      code: reply.code,
      cause: answered.cause,
    })
    const isHead = request.method === 'HEAD'
    const headers: Record<string, string> = { ...everyHeader, ...reply.headers }
    headers['x-request-id'] = requestId
    const challenge = challengeOf(app, context, reply)
    if (challenge !== undefined) headers['www-authenticate'] = challenge
    addLimit(headers, limits, answered.bucket ?? { kind: 'anonymous', name: context.address })
    if (isHead && typeof reply.body === 'string') {
      headers['content-length'] = String(Buffer.byteLength(reply.body))
    }
    return { status: reply.status, headers, body: isHead ? unread(reply.body) : reply.body }
  }
}

/** What answers a request whose time and id are known, as one who is told beforehand where a principal is given. */
export type Answerer = (context: RequestContext, principal?: Principal) => Answered | Promise<Answered>

/** What answers the requests to these routes and endpoints. */
export function answererOf(
  app: AppOptions,
  routesOf: RoutesOf,
  endpoints: readonly Endpoint[],
  limits = rateLimitsOf(app),
): Answerer {
  const routers = new WeakMap<readonly Route[], Router<Place>>()
  const beside = endpoints.map((endpoint): Place => ({ ...placeOf(endpoint), endpoint }))

  function find(routes: readonly Route[], { raw, path }: RequestContext): Found<Place> | undefined {
    let router = routers.get(routes)
    if (!router) {
      const own = routes.flatMap((route): Place[] =>
        methodsFor(route.operation).map((method) => ({ ...placeOf(route.operation), method, route })),
      )
      router = createRouter([...own, ...beside])
      routers.set(routes, router)
    }
    return router(raw.method, path)
  }

  function answerFrom(
    found: Found<Place> | undefined,
    context: RequestContext,
    principal: Principal | undefined,
  ): Answered | Promise<Answered> {
    const fault = faultBefore(app, context, found)
    if (!fault && context.raw.method === 'OPTIONS') return { reply: options(found?.allow) }
    if (fault || !found?.params) {
      return refused(context, fault, found?.place.endpoint?.refuse)
    }
    const { place, params } = found
    return place.route
      ? answer(principal ? { ...app, principal } : app, limits, place.route, context, params)
      : answerEndpoint(app, limits, place.endpoint, context, params)
  }

  async function search(
    routes: readonly Route[] | Promise<readonly Route[]>,
    isPlain: boolean,
    context: RequestContext,
    principal: Principal | undefined,
  ): Promise<Answered> {
    let found = find(await routes, context)
    if (isPlain && !found?.params) found = find(await routesOf(context.path, false), context)
    return answerFrom(found, context, principal)
  }

  return (context, principal) => {
    const isPlain = context.search === '' && reads.has(context.raw.method)
    const routes = routesOf(context.path, isPlain)
    // Where all routes are loaded, as in a server, nothing is waited for.
    const found = routes instanceof Promise ? undefined : find(routes, context)
    return found?.params ? answerFrom(found, context, principal) : search(routes, isPlain, context, principal)
  }
}

/** A challenge says where to find out how a token is had (RFC 9728 §5.1). */
function challengeOf(app: AppOptions, context: RequestContext, { headers }: Reply): string | undefined {
  const challenge = headers['www-authenticate']
  if (!challenge?.startsWith('Bearer ')) return undefined
  const metadata = issuerOf(app, context) + oauthPaths.resourceMetadata
  return `${challenge}, resource_metadata="${metadata}"`
}

/** PATCH is another name of PUT where that takes a merge patch (RFC 7396): both change what they name and no more. */
function methodsFor({ method, merge }: Operation): string[] {
  return merge ? [method, 'PATCH'] : [method]
}

/** What may be done at a path (RFC 9110 §9.3.7, RFC 5789 §3.1). */
function options(allow = everyMethod): Reply {
  const patch = allow.includes('PATCH') ? { 'accept-patch': patchTypes.join(', ') } : {}
  return { status: 204, headers: { allow, ...patch }, body: null }
}

/** No body: a stream that nobody reads would hold its snapshot for good. */
function unread(body: Reply['body']): null {
  if (body !== null && typeof body !== 'string') void body[Symbol.asyncIterator]().return?.()
  return null
}

/** Operations write their parameters as `{name}`, endpoints as `:name`. */
function placeOf({ method, path }: { method: string; path: string }): { method: string; path: string } {
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

/** Why a request is refused before anything at its path looks at it. */
function faultBefore(
  { isClosing }: AppOptions,
  { raw: { method }, path, search }: RequestContext,
  found: Found<Place> | undefined,
): ProblemError | undefined {
  if (isClosing?.()) {
    return shuttingDown()
  }
  if (path.length + search.length >= maximumUrlBytes) {
    return new ProblemError('uri_too_long', `The path and query are longer than ${maximumUrlBytes} bytes.`)
  }
  if (method === 'OPTIONS' && (found || path === anyPath)) return undefined
  if (!found) return new ProblemError('not_found', `Path ${path} not found.`)
  if (found.params) return undefined
  const { allow } = found
  const detail = `${method} is not supported here; use ${allow}.`
  return new ProblemError('method_not_allowed', detail, { headers: { allow } })
}
