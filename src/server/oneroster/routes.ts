import type { MachineScope } from '../../contract/constants.ts'
import { noTerm, schoolNamed } from '../../lms/oneroster-mapping.ts'
import type { Database } from '../database/database.ts'
import { countFailure, countRequest, isRecordedCode } from '../http/limits.ts'
import { recordRefusedRequest } from '../http/record-refusal.ts'
import type { Reply } from '../http/reply.ts'
import { readJsonBody } from '../http/request-body.ts'
import { originOf } from '../http/request-context.ts'
import type { Visit, WebRoute } from '../http/web-route.ts'
import { findClientToken } from '../oauth/issue-tokens.ts'
import { ProblemError } from '../problem-error.ts'
import { classes, courses, demographics, gradingPeriods, orgs, terms } from './classes.ts'
import { type Asking, type Collection, idNamed, narrowingOf, type Scope, type Version } from './collection.ts'
import {
  deleteLineItem,
  deleteResult,
  type GradebookWrite,
  putLineItem,
  putResult,
  type Written,
} from './gradebook-writes.ts'
import { categories, findItem, lineItems, scoreScales } from './line-items.ts'
import { findRecords, readList } from './list.ts'
import { enrollments, students, teachers, users } from './people.ts'
import { pick, readFields, readListQuery, refused, statusInfoReply, unknownRecord } from './query.ts'
import { results } from './results.ts'

/** By version. Both services are one in 1.1. */
const bases: Readonly<Record<Version, Readonly<Record<Service, `/${string}`>>>> = {
  '1.1': { rostering: '/ims/oneroster/v1p1', gradebook: '/ims/oneroster/v1p1' },
  '1.2': { rostering: '/ims/oneroster/rostering/v1p2', gradebook: '/ims/oneroster/gradebook/v1p2' },
}

type Service = 'rostering' | 'gradebook'

/** A single record where it ends in `:sourcedId`. */
type ReadPath = readonly [path: `/${string}`, collection: Collection]

/** OneRoster 1.2, 3.1; 1.1, 3.2. Each `:name` is a record that must exist. */
const rosterPaths: readonly ReadPath[] = [
  ['/orgs', orgs],
  ['/orgs/:sourcedId', orgs],
  ['/schools', orgs],
  ['/schools/:sourcedId', orgs],
  ['/schools/:school/courses', courses],
  ['/schools/:school/classes', classes],
  ['/schools/:school/enrollments', enrollments],
  ['/schools/:school/students', students],
  ['/schools/:school/teachers', teachers],
  ['/schools/:school/terms', terms],
  ['/schools/:school/classes/:class/enrollments', enrollments],
  ['/schools/:school/classes/:class/students', students],
  ['/schools/:school/classes/:class/teachers', teachers],
  ['/academicSessions', terms],
  ['/academicSessions/:sourcedId', terms],
  ['/terms', terms],
  ['/terms/:sourcedId', terms],
  ['/terms/:term/classes', classes],
  ['/terms/:term/gradingPeriods', gradingPeriods],
  ['/gradingPeriods', gradingPeriods],
  ['/gradingPeriods/:sourcedId', gradingPeriods],
  ['/courses', courses],
  ['/courses/:sourcedId', courses],
  ['/courses/:class/classes', classes],
  ['/classes', classes],
  ['/classes/:sourcedId', classes],
  ['/classes/:class/students', students],
  ['/classes/:class/teachers', teachers],
  ['/users', users],
  ['/users/:sourcedId', users],
  ['/users/:user/classes', classes],
  ['/students', students],
  ['/students/:sourcedId', students],
  ['/students/:student/classes', classes],
  ['/teachers', teachers],
  ['/teachers/:sourcedId', teachers],
  ['/teachers/:teacher/classes', classes],
  ['/enrollments', enrollments],
  ['/enrollments/:sourcedId', enrollments],
  ['/demographics', demographics],
  ['/demographics/:sourcedId', demographics],
]

/** OneRoster 1.2, 3.2; 1.1, 3.3. */
const gradebookPaths: readonly ReadPath[] = [
  ['/categories', categories],
  ['/categories/:sourcedId', categories],
  ['/classes/:class/categories', categories],
  ['/schools/:school/categories', categories],
  ['/lineItems', lineItems],
  ['/lineItems/:sourcedId', lineItems],
  ['/classes/:class/lineItems', lineItems],
  ['/schools/:school/lineItems', lineItems],
  ['/results', results],
  ['/results/:sourcedId', results],
  ['/classes/:class/results', results],
  ['/classes/:class/lineItems/:lineItem/results', results],
  ['/classes/:class/students/:student/results', results],
  ['/scoreScales', scoreScales],
  ['/scoreScales/:sourcedId', scoreScales],
  ['/classes/:class/scoreScales', scoreScales],
  ['/schools/:school/scoreScales', scoreScales],
]

/** `write` is undefined where the records belong to the academy. */
type WritePath = readonly [
  method: 'PUT' | 'DELETE',
  path: `/${string}`,
  write: ((write: GradebookWrite) => Promise<Written | undefined>) | undefined,
]

const writePaths: readonly WritePath[] = [
  ['PUT', '/lineItems/:sourcedId', putLineItem],
  ['DELETE', '/lineItems/:sourcedId', deleteLineItem],
  ['PUT', '/results/:sourcedId', putResult],
  ['DELETE', '/results/:sourcedId', deleteResult],
  ['PUT', '/categories/:sourcedId', undefined],
  ['DELETE', '/categories/:sourcedId', undefined],
  ['PUT', '/scoreScales/:sourcedId', undefined],
  ['DELETE', '/scoreScales/:sourcedId', undefined],
]

export const oneRosterRoutes: readonly WebRoute[] = (['1.2', '1.1'] as const).flatMap((version) => [
  ...rosterPaths.map((place) => readRoute(version, 'rostering', place, 'roster.readonly')),
  ...gradebookPaths.map((place) => readRoute(version, 'gradebook', place, 'gradebook.readonly')),
  ...writePaths.map((place) => writeRoute(version, place)),
])

function readRoute(
  version: Version,
  service: Service,
  [path, collection]: ReadPath,
  scope: MachineScope,
): WebRoute {
  const answer = path.endsWith('/:sourcedId') ? readOne : readMany
  const place = { method: 'GET', path: `${bases[version][service]}${path}` } as const
  return {
    ...place,
    countsItself: true,
    refuse: statusInfoReply,
    handle: (visit) =>
      answerClient(visit, { ...place, scope }, () =>
        visit.academy.database.read((view) => answer(visit, askingOf(visit, view, version), collection)),
      ),
  }
}

function writeRoute(version: Version, [method, path, write]: WritePath): WebRoute {
  const scope = method === 'PUT' ? 'gradebook.createput' : 'gradebook.delete'
  const place = { method, path: `${bases[version].gradebook}${path}` } as const
  return {
    ...place,
    countsItself: true,
    refuse: statusInfoReply,
    handle: (visit) =>
      answerClient(visit, { ...place, scope }, async ({ clientId }) => {
        if (!write) {
          const detail =
            'Categories are the weights of classes, which belong to the academy, and it has no scales.'
          throw refused('forbidden', 'forbidden', detail)
        }
        const { academy, request, params } = visit
        const { raw, now } = request
        const body = method === 'PUT' ? (await readJsonBody(raw, false)).value : undefined
        const written = await academy.database.write(async (database) => {
          // The body may have arrived long after the token was checked.
          await identifyClient({ ...visit, database })
          const principal = { userId: null, credential: clientId }
          const origin = originOf(request)
          const call = { database, now: now.toISOString(), newId: academy.newId, principal, origin }
          return write({ call, clientId, sourcedId: params['sourcedId'] ?? '', body })
        })
        return { status: written ? (written.isNew ? 201 : 200) : 204, headers: {}, body: null }
      }),
  }
}

function askingOf({ issuer }: Visit, database: Database, version: Version): Asking {
  const { rostering, gradebook } = bases[version]
  const school = schoolNamed(new URL(issuer).host)
  return { database, version, school, rostering: issuer + rostering, gradebook: issuer + gradebook }
}

async function readMany(visit: Visit, asking: Asking, collection: Collection): Promise<Reply> {
  const { request, query: given, issuer } = visit
  const scope = await scopeOf(visit, asking)
  const query = readListQuery(given, collection.fields)
  const { limit, offset, fields } = query
  const { records, total, hasMore } = await readList(asking, collection, scope, query)
  const link = (rel: string, at: number) => {
    const next = new URLSearchParams(given)
    next.set('limit', String(limit))
    next.set('offset', String(at))
    return `<${issuer}${request.path}?${next}>; rel="${rel}"`
  }
  const last = total === undefined ? undefined : Math.max(0, Math.ceil(total / limit) - 1) * limit
  const links = [
    ...(hasMore ? [link('next', offset + limit)] : []),
    ...(last === undefined ? [] : [link('last', last)]),
    link('first', 0),
    ...(offset > 0 ? [link('prev', Math.max(0, offset - limit))] : []),
  ]
  return {
    status: 200,
    headers: {
      'content-type': 'application/json',
      link: links.join(', '),
      ...(total !== undefined && { 'x-total-count': String(total) }),
    },
    body: JSON.stringify({ [collection.plural]: records.map((record) => pick(record, fields)) }),
  }
}

async function readOne(visit: Visit, asking: Asking, collection: Collection): Promise<Reply> {
  const { params, query } = visit
  const fields = readFields(query, collection.fields)
  const record = await findRecord(asking, collection, params['sourcedId'] ?? '')
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ [collection.singular]: pick(record, fields) }),
  }
}

async function findRecord(asking: Asking, collection: Collection, sourcedId: string): Promise<object> {
  const filter = [[{ field: 'sourcedId', predicate: '=', value: sourcedId }]] as const
  const parts = (await collection.parts(asking, {}, narrowingOf(filter), false)) ?? []
  const [found] = await findRecords(asking, parts, filter, 1)
  if (found) return found
  throw unknownRecord(collection.singular, sourcedId)
}

/** Throws 404. */
async function scopeOf({ params }: Visit, { database, school }: Asking): Promise<Scope> {
  const { school: schoolId, class: classId, term, student, teacher, lineItem } = params
  const { user = student ?? teacher } = params
  if (schoolId !== undefined && schoolId !== school.id) throw unknownRecord('school', schoolId)
  const courseId = classId === undefined ? undefined : await idOf(database, 'courses', 'class', classId)
  const userId = user === undefined ? undefined : await idOf(database, 'users', 'user', user)
  const termId =
    term === undefined ? undefined : term === noTerm.id ? null : await idOf(database, 'terms', 'term', term)
  const item = lineItem === undefined ? undefined : await findItem(database, lineItem)
  if (lineItem !== undefined && item?.courseId !== courseId) throw unknownRecord('line item', lineItem)
  const role = student !== undefined ? 'learner' : teacher !== undefined ? 'instructor' : undefined
  return {
    ...(courseId !== undefined && { courseId }),
    ...(userId !== undefined && { userId }),
    ...(termId !== undefined && { termId }),
    ...(role !== undefined && { role }),
    ...(item && { itemId: item.itemId }),
  }
}

async function idOf(
  database: Database,
  table: 'courses' | 'users' | 'terms',
  noun: string,
  sourcedId: string,
): Promise<string> {
  const id = await idNamed(database, table, sourcedId)
  if (id !== undefined) return id
  throw unknownRecord(noun, sourcedId)
}

interface MachineClient {
  readonly clientId: string
  readonly scopes: readonly MachineScope[]
}

/** The path has `:name` for each parameter, which may name a person. */
interface MachineOperation extends Pick<WebRoute, 'method' | 'path'> {
  readonly scope: MachineScope
}

const challenge = 'Bearer realm="learnctl"'

/** Requests are counted by application, refusals are recorded in the audit log. Throws 401 without a valid token. */
async function answerClient(
  visit: Visit,
  { method, path, scope }: MachineOperation,
  answer: (client: MachineClient) => Promise<Reply>,
): Promise<Reply> {
  const { limits, request, academy } = visit
  const client = await identifyClient(visit).catch(async (error: unknown) => {
    if (error instanceof ProblemError && isRecordedCode(error.code)) {
      await recordRefusedRequest(academy, limits, request, `${method} ${path}`, error.code, undefined)
    }
    throw error
  })
  visit.countAs({ kind: 'known', name: client.clientId }, { userId: null, credential: client.clientId })
  if (client.scopes.includes(scope)) return answer(client)
  throw refused('insufficient_scope', 'forbidden', `The token does not have the scope ${scope}.`)
}

/** Throws 401 without a valid token. */
async function identifyClient({ database, limits, request }: Visit): Promise<MachineClient> {
  const authorization = request.raw.headers['authorization'] ?? null
  if (authorization === null) {
    countRequest(limits, { kind: 'anonymous', name: request.address })
    throw new ProblemError('missing_credentials', 'The Authorization header is required.', {
      headers: { 'www-authenticate': challenge },
    })
  }
  const [, token = ''] = /^Bearer +([\w.~+/-]+=*)$/i.exec(authorization) ?? []
  const found = await findClientToken(database, token, request.now)
  if (found) return found
  countFailure(limits, request.address)
  const detail =
    'The token is not that of an application with machine scopes, or has expired or been revoked.'
  throw new ProblemError('invalid_token', detail, {
    headers: { 'www-authenticate': `${challenge}, error="invalid_token"` },
  })
}
