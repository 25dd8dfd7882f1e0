import { isDeepStrictEqual } from 'node:util'
import sql, { join } from 'sql-template-tag'
import { isJsonObject, type JsonObject, parseJsonOrNull } from '../../codec/json-text.ts'
import { statementEvents, testEvent } from '../../contract/actions.ts'
import { type Statement, XapiSettings } from '../../contract/statements.ts'
import { type LearningRecord, StatementMaker, type Subject } from '../../lms/xapi.ts'
import type { Database, Row } from '../database/database.ts'
import { type AccessToken, forgetToken, keptToken, tokenIn, tokenRequest } from '../outgoing/access-token.ts'
import {
  type Claimed,
  type Delivery,
  type EndpointDelivery,
  type Outcome,
  outcomeOf,
  type Received,
  released,
} from './delivery.ts'
import { toXapiSettings } from './endpoint-row.ts'

/**
 * xAPI 1.0.3 and 2.0: due messages become statements, in batches, with the same ids each time, so that a store keeps one
 * that arrives twice once.
 */
export const xapiDelivery: EndpointDelivery = {
  maxMessages: 500,
  maxConcurrent: 1,
  intervalMs: 0,

  async deliver(messages, delivery) {
    const { endpoint, database } = delivery
    const settings = toXapiSettings(endpoint) ?? XapiSettings.parse({})
    const maker = new StatementMaker({ ...settings, version: settings.xapiVersion })
    const statementsById = new Map<string, Statement>()
    const idsByMessage = new Map<string, string[]>()
    const known = await readKnown(database, messages)
    for (const message of messages) {
      const made =
        message.type === testEvent
          ? [maker.test(endpoint.id, endpoint.created_at)]
          : recordsOf(message, known).map((record) => maker.statementOf(record))
      for (const statement of made) statementsById.set(statement.id, statement)
      idsByMessage.set(
        message.id,
        made.map(({ id }) => id),
      )
    }
    const outcomes = await storeStatements([...statementsById.values()], settings, delivery)
    return messages.map(({ id }) => {
      const own = (idsByMessage.get(id) ?? []).flatMap((each) => outcomes.get(each) ?? [])
      return own.find(({ kind }) => kind !== 'delivered') ?? own[0] ?? nothingToSend
    })
  },
}

/** For a message without a statement, such as about a grade that is not published. */
const nothingToSend: Outcome = {
  ...{ kind: 'delivered', status: null, response: '', pauseMs: 0 },
  result: 'Nothing to send: the event makes no statement',
}

interface UserRow extends Row {
  readonly id: string
  readonly external_id: string | null
  readonly email: string
}

interface CourseRow extends Row {
  readonly id: string
  readonly title: string
  readonly language: string | null
  readonly passing_score: number
}

interface CourseGradeRow extends Row {
  readonly user_id: string
  readonly course_id: string
  readonly percent: number
  readonly updated_at: string
}

interface Known {
  readonly users: ReadonlyMap<string, UserRow>
  readonly courses: ReadonlyMap<string, CourseRow>
  readonly grades: ReadonlyMap<string, CourseGradeRow>
}

async function readKnown(database: Pick<Database, 'all'>, messages: readonly Claimed[]): Promise<Known> {
  const data = messages.filter(({ type }) => isStatementEvent(type)).map(dataOf)
  const userIds = [...new Set(data.map(({ learnerId }) => String(learnerId)))]
  const courseIds = [...new Set(data.map(({ courseId }) => String(courseId)))]
  if (data.length === 0) return { users: new Map(), courses: new Map(), grades: new Map() }
  const [users, courses, grades] = await Promise.all([
    database.all<UserRow>(
      sql`select id, external_id, email from users where id in (${join(userIds)}) and status <> 'deleted'`,
    ),
    database.all<CourseRow>(sql`
      select id, title, attributes ->> 'language' as language, passing_score
      from courses where id in (${join(courseIds)})`),
    database.all<CourseGradeRow>(sql`
      select user_id, course_id, percent, updated_at from course_grades
      where user_id in (${join(userIds)}) and course_id in (${join(courseIds)})`),
  ])
  return {
    users: new Map(users.map((user) => [user.id, user])),
    courses: new Map(courses.map((course) => [course.id, course])),
    grades: new Map(grades.map((grade) => [pairOf(grade.user_id, grade.course_id), grade])),
  }
}

function isStatementEvent(type: string): boolean {
  return (statementEvents as readonly string[]).includes(type)
}

function dataOf({ body }: Claimed): JsonObject {
  return (JSON.parse(body) as { data: JsonObject }).data
}

function pairOf(userId: string, courseId: string): string {
  return `${userId} ${courseId}`
}

/** Nothing if the learner or the course was deleted. */
function recordsOf(message: Claimed, { users, courses, grades }: Known): LearningRecord[] {
  if (!isStatementEvent(message.type)) return []
  const data = dataOf(message)
  const user = users.get(String(data['learnerId']))
  const course = courses.get(String(data['courseId']))
  if (!user || !course) return []
  const subject: Subject = {
    learner: { id: user.id, externalId: user.external_id, email: user.email },
    course: { id: course.id, title: course.title, language: course.language },
  }
  if (message.type === 'grade.updated') {
    const own = gradeOf(subject, data)
    const grade = grades.get(pairOf(user.id, course.id))
    if (!grade) return own
    const { percent, updated_at: updatedAt } = grade
    const record = { ...subject, percent, passed: percent >= course.passing_score, updatedAt }
    return [...own, { kind: 'courseGrade', record }]
  }
  const record = {
    ...subject,
    version: Number(data['version']),
    completionPercentage: Number(data['completionPercentage']),
    lastAccessed: String(data['lastAccessed']),
  }
  return [{ kind: message.type === 'progress.completed' ? 'completion' : 'progress', record }]
}

/** Nothing for a grade that is cleared, or not published. */
function gradeOf(subject: Subject, data: JsonObject): LearningRecord[] {
  const { scoreGiven, published } = data
  if (typeof scoreGiven !== 'number' || published !== true) return []
  return [
    {
      kind: 'grade',
      record: {
        ...subject,
        id: String(data['id']),
        version: Number(data['version']),
        itemId: String(data['itemId']),
        label: String(data['label'] ?? ''),
        scoreGiven,
        scoreMaximum: Number(data['scoreMaximum']),
        gradedAt: String(data['gradedAt']),
      },
    },
  ]
}

const maxBatch = 500
/** Maximum requests of one delivery; the statements that are left follow in the next one. */
const maxRequests = 64
const maxWords = 300

/** Statuses of a request that the record store refuses for one of its statements (Communication 2.1.2). */
const refusing: readonly number[] = [400, 409, 413, 422]

/**
 * Stores statements in a learning record store, in their order; returns the outcome of each by its id. If a request is
 * refused, it is halved until the statement at fault is found; all others are stored. Throws network errors, and
 * RefusedTarget, unless some statements have an outcome already.
 */
async function storeStatements(
  statements: readonly Statement[],
  settings: XapiSettings,
  delivery: Delivery,
): Promise<ReadonlyMap<string, Outcome>> {
  const store = new RecordStore(settings, delivery)
  for (let index = 0; index < statements.length; index += maxBatch) {
    await store.send(statements.slice(index, index + maxBatch))
  }
  return store.outcomes
}

class RecordStore {
  readonly outcomes = new Map<string, Outcome>()
  readonly #settings: XapiSettings
  readonly #delivery: Delivery
  #requests = 0
  #ending: Outcome | undefined

  constructor(settings: XapiSettings, delivery: Delivery) {
    this.#settings = settings
    this.#delivery = delivery
  }

  async send(part: readonly Statement[]): Promise<void> {
    if (this.#requests >= maxRequests) this.#ending ??= released
    if (this.#ending) return this.#record(part, this.#ending)
    const received = await this.#post(part)
    if (this.#ending) return this.#record(part, this.#ending)
    if (!received || !refusing.includes(received.status)) {
      const outcome = received ? this.#outcomeOf(received) : released
      if (outcome.kind !== 'delivered') this.#ending = outcome
      return this.#record(part, outcome)
    }
    const [first] = part
    if (first && part.length === 1) return this.#record(part, await this.#outcomeOfOne(first, received))
    if (received.status === 400 && this.#requests === 1) {
      // A store that does not know the version refuses all statements.
      const reason = await this.#unknownVersion(received)
      if (reason) {
        this.#ending = reason
        return this.#record(part, reason)
      }
    }
    const middle = Math.ceil(part.length / 2)
    await this.send(part.slice(0, middle))
    await this.send(part.slice(middle))
  }

  #record(part: readonly Statement[], outcome: Outcome): void {
    for (const { id } of part) this.outcomes.set(id, outcome)
  }

  /** Undefined if it failed after others. */
  async #post(part: readonly Statement[]): Promise<Received | undefined> {
    try {
      const body = JSON.stringify(part)
      const received = await this.#request('POST', 'statements', body)
      if (received?.status !== 401 || this.#settings.tokenUrl === null) return received
      // The access token may have been revoked.
      forgetToken(this.#delivery.database, this.#delivery.endpoint.secret)
      return await this.#request('POST', 'statements', body)
    } catch (error) {
      // Stored statements have an outcome; the rest is sent again.
      if (this.outcomes.size > 0) return undefined
      throw error
    }
  }

  /** Undefined, with the outcome of all statements, if no access token is granted. */
  async #request(method: 'GET' | 'POST', resource: string, body = ''): Promise<Received | undefined> {
    const { xapiVersion } = this.#settings
    const authorization = await this.#authorization()
    if (authorization === undefined) return undefined
    this.#requests += 1
    return this.#delivery.post({
      ...{ method, body, url: resourceUrl(this.#delivery.endpoint.url, resource) },
      headers: {
        'x-experience-api-version': xapiVersion,
        ...(authorization !== '' && { authorization }),
      },
    })
  }

  /** '' for none, undefined if no access token is granted. */
  async #authorization(): Promise<string | undefined> {
    const { username, tokenUrl } = this.#settings
    if (username === null) return ''
    const { endpoint, open } = this.#delivery
    const password = open(endpoint.secret)
    if (tokenUrl === null) return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
    const { database, now } = this.#delivery
    const grant = () => grantToken(this.#settings, password, this.#delivery)
    try {
      return `Bearer ${(await keptToken(database, endpoint.secret, now.getTime(), grant)).token}`
    } catch (error) {
      if (!(error instanceof TokenRefused)) throw error
      this.#ending = error.outcome
      return undefined
    }
  }

  #outcomeOf(received: Received): Outcome {
    const { status, response } = received
    const outcome = outcomeOf(received, this.#delivery.now)
    if (outcome.kind === 'delivered') {
      if (status === 204 || response.trimStart().startsWith('[')) return outcome
      return {
        ...outcome,
        kind: 'failed',
        result: `HTTP ${status}, but not from a record store: ${checkUrl}`,
      }
    }
    const words: Readonly<Record<number, string>> = {
      401: 'the record store does not accept the user name or the password',
      403: 'the credential may not store statements',
      404: `no resource for statements: ${checkUrl}`,
      405: `no resource for statements: ${checkUrl}`,
    }
    const said = words[status]
    return said === undefined ? outcome : { ...outcome, result: `HTTP ${status}: ${said}` }
  }

  async #outcomeOfOne(statement: Statement, received: Received): Promise<Outcome> {
    const { status, response } = received
    const outcome = outcomeOf(received, this.#delivery.now)
    if (status === 409) return this.#outcomeOfConflict(statement, outcome)
    const unknown = status === 400 && this.#requests === 1 ? await this.#unknownVersion(received) : undefined
    return unknown ?? { ...outcome, kind: 'refused', result: `HTTP ${status}: ${wordsIn(response)}` }
  }

  /** A store that has a statement keeps it; a different one with the same id is refused for ever. */
  async #outcomeOfConflict(statement: Statement, outcome: Outcome): Promise<Outcome> {
    const stored = await this.#request('GET', `statements?statementId=${statement.id}`).catch(() => undefined)
    const found = stored?.status === 200 ? parseJsonOrNull(stored.response) : null
    if (isJsonObject(found) && !isEqual(found, statement)) {
      return { ...outcome, kind: 'refused', result: 'HTTP 409: another statement has the same id' }
    }
    return { ...outcome, kind: 'delivered', result: 'HTTP 409: the record store has it already' }
  }

  /** Returns the outcome if the store says that it does not know the version (Communication 2.8). */
  async #unknownVersion(received: Received): Promise<Outcome | undefined> {
    const about = await this.#request('GET', 'about').catch(() => undefined)
    const found = about?.status === 200 ? parseJsonOrNull(about.response) : null
    const versions = isJsonObject(found) ? found['version'] : undefined
    const { xapiVersion: version } = this.#settings
    if (!Array.isArray(versions) || versions.some((one) => isSameVersion(String(one), version)))
      return undefined
    const result = `HTTP ${received.status}: the record store knows xAPI ${versions.join(', ').slice(0, 100)}, not ${version}`
    return { ...outcomeOf(received, this.#delivery.now), result }
  }
}

const checkUrl = 'check the URL, which ends before /statements'

/** The URL may have been given with `/statements`. */
function resourceUrl(url: string, resource: string): string {
  const base = new URL(url)
  const [path = '', query = ''] = resource.split('?')
  base.pathname = `${base.pathname.replace(/\/(statements\/?)?$/, '')}/${path}`
  if (query !== '') base.search = query
  return base.href
}

function isSameVersion(one: string, other: string): boolean {
  const minor = (version: string) => version.split('.', 2).join('.')
  return minor(one) === minor(other)
}

/** The message of JSON, else the beginning of the text. */
function wordsIn(response: string): string {
  const parsed = parseJsonOrNull(response)
  const said = isJsonObject(parsed) ? (parsed['message'] ?? parsed['error'] ?? parsed['warnings']) : undefined
  const text = typeof said === 'string' ? said : said === undefined ? response : JSON.stringify(said)
  const line = text.replace(/[\p{Cc}\s]+/gu, ' ').trim()
  return line === '' ? 'refused without a reason' : line.slice(0, maxWords).toWellFormed()
}

/** Members that a store may add or change do not count (Data 2.3.1). */
function isEqual(stored: JsonObject, statement: Statement): boolean {
  return isDeepStrictEqual(coreOf(stored), coreOf(statement as unknown as JsonObject))
}

function coreOf({ actor, verb, object, result }: JsonObject) {
  const idOf = (thing: unknown) => (isJsonObject(thing) ? thing['id'] : undefined)
  const { objectType: _, name: __, ...agent } = isJsonObject(actor) ? actor : {}
  return JSON.parse(JSON.stringify({ agent, verb: idOf(verb), object: idOf(object), result: result ?? null }))
}

class TokenRefused extends Error {
  readonly outcome: Outcome

  constructor(outcome: Outcome) {
    super(outcome.result)
    this.outcome = outcome
  }
}

/** RFC 6749 §4.4. Throws TokenRefused. */
async function grantToken(
  { username, tokenUrl, scope }: XapiSettings,
  secret: string,
  { now, post }: Delivery,
): Promise<AccessToken> {
  const form = { grant_type: 'client_credentials', ...(scope !== null && { scope }) }
  const client = { id: username ?? '', secret }
  const received = await post({ url: tokenUrl ?? '', ...tokenRequest(form, client) })
  const found = tokenIn(received.status, received.response, now.getTime())
  if (found !== null && typeof found !== 'string') return found
  // The response may contain a token.
  const outcome = outcomeOf({ ...received, response: '' }, now)
  throw new TokenRefused({
    ...outcome,
    kind: 'failed',
    result: `No access token: ${found ?? `HTTP ${received.status}`}`,
  })
}
