import pg from 'pg'
import { courseColumns, type Row, serveBare, toCourse } from './bare-http.ts'
import { attributes } from './seed.ts'

// Yardstick: node:http with the same driver, running the statements of the work itself in the same kind of transaction,
// sent as early as possible. The benchmark starts it with its own database.

const [url = '', port = '0'] = process.argv.slice(2)
const json = 114
const pool = new pg.Pool({
  connectionString: url,
  max: 10,
  pipeline: true,
  // JSON is sent on as text.
  types: { getTypeParser: (type, format) => (type === json ? String : pg.types.getTypeParser(type, format)) },
})

const [beginRead, beginWrite] = [
  'begin isolation level repeatable read read only',
  'begin isolation level serializable',
]

const list = {
  name: 'list',
  text: `select ${courseColumns}, c.created_at as cursor_value, c.id as cursor_id from courses c
    order by c.created_at desc, c.id desc limit $1`,
}
const one = { name: 'one', text: `select ${courseColumns} from courses c where c.id = $1` }
const insert = {
  name: 'insert',
  text: `insert into courses (id, external_id, title, title_key, description, search_key, difficulty, level, status,
      attributes, managed_by, version, created_at, updated_at, published_at, archived_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 1, $12, $13, $14, null)`,
}
const keep = {
  name: 'keep',
  text: `insert into course_versions (course_id, version, attributes, modified_attributes, user_id, created_at)
    values ($1, $2, $3, $4, $5, $6)`,
}
const learner = {
  name: 'learner',
  text: `select u.id, u.external_id, u.email, u.username, u.role, u.status, u.profile, u.managed_by, u.version,
      u.created_at, u.updated_at from users u where u.id = $1`,
}
const standing = {
  name: 'standing',
  text: `select e.user_id, e.course_id, 'active' as user_status, e.status as enrollment, p.status, p.percentage,
      coalesce(p.last_accessed, e.enrolled_at) as last_seen, p.risen_at, g.percent as grade, p.started_at,
      p.last_accessed, p.completed_at, p.version, p.updated_at
    from enrollments e
    left join progress p on p.user_id = e.user_id and p.course_id = e.course_id
    left join course_grades g on g.user_id = e.user_id and g.course_id = e.course_id
    where e.user_id = $1 and e.course_id = $2 and e.role = 'learner'`,
}
const record = {
  name: 'record',
  text: `insert into progress (user_id, course_id, percentage, status, started_at, last_accessed, completed_at, risen_at,
      version, updated_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
    on conflict (user_id, course_id) do update set
      percentage = excluded.percentage, status = excluded.status, last_accessed = excluded.last_accessed,
      completed_at = excluded.completed_at, risen_at = excluded.risen_at, version = excluded.version,
      updated_at = excluded.updated_at`,
}
const keepStep = {
  name: 'keepStep',
  text: `insert into progress_steps (user_id, course_id, version, percentage, status, last_accessed, recorded_at)
    values ($1, $2, $3, $4, $5, $6, $7)`,
}
type Statement = Readonly<{ name: string; text: string }>
type Ask = (statement: Statement, ...values: unknown[]) => Promise<Row[]>

async function read<Result>(work: (ask: Ask) => Promise<Result>): Promise<Result> {
  const client = await pool.connect()
  const begun = client.query(beginRead)
  const result = await work(asker(client))
  // The response does not wait for the end.
  void Promise.all([begun, client.query('rollback')]).then(() => client.release())
  return result
}

/** `work` returns while its last statements are under way; the commit follows them. */
async function write(work: (ask: Ask) => Promise<{ result: Row; last: Promise<unknown> }>): Promise<Row> {
  const client = await pool.connect()
  try {
    for (;;) {
      const begun = client.query(beginWrite)
      try {
        const { result, last } = await work(asker(client))
        await Promise.all([begun, last, client.query('commit')])
        return result
      } catch (error) {
        await client.query('rollback')
        // A serialization failure (PostgreSQL, Serializable Isolation Level).
        if ((error as { code?: string }).code !== '40001') throw error
      }
    }
  } finally {
    client.release()
  }
}

function asker(client: pg.PoolClient): Ask {
  return async (statement, ...values) => (await client.query<Row>({ ...statement, values })).rows
}

async function createCourse({ title, description, difficulty }: Row): Promise<Row> {
  return write(async (ask) => {
    made += 1
    const id = `crs_${Date.now().toString(36)}${made}`
    const now = new Date().toISOString()
    const key = String(title).toLowerCase()
    const texts = [title, key, description, `${key}${String(description).toLowerCase()}`, difficulty, 0]
    const inserted = ask(insert, id, null, ...texts, 'draft', attributes, null, now, now, null)
    const row = { id, external_id: null, title, description, difficulty, status: 'draft', attributes }
    const times = { created_at: now, updated_at: now, published_at: null, archived_at: null }
    const course = toCourse({ ...row, ...times, managed_by: null, version: 1 })
    const kept = ask(keep, id, 1, JSON.stringify(course), '[]', 'usr_bench', now)
    return { result: course, last: Promise.all([inserted, kept]) }
  })
}

let made = 0

/** Records progress of an enrolled learner: looks it up, writes it, counts it, and adds a step to its history. */
async function setProgress(
  learnerId: string,
  { courseId, completionPercentage: percentage }: Row,
): Promise<Row> {
  return write(async (ask) => {
    const now = new Date().toISOString()
    const [learners, courses, standings] = await Promise.all([
      ask(learner, learnerId),
      ask(one, courseId),
      ask(standing, learnerId, courseId),
    ])
    const course = toCourse(courses[0] as Row)
    const before = standings[0] as Row
    const version = Number(before['version'] ?? 0) + 1
    const status = Number(percentage) >= 100 ? 'completed' : 'in_progress'
    const startedAt = before['started_at'] ?? now
    const completedAt = status === 'completed' ? now : null
    const values = [percentage, status, startedAt, now, completedAt, now, version, now]
    const last = Promise.all([
      ask(record, learnerId, courseId, ...values),
      ask(keepStep, learnerId, courseId, version, percentage, status, now, now),
    ])
    const { email } = learners[0] as Row
    const [named, times] = [
      { learnerId, userEmail: email, courseId, courseTitle: course['title'] },
      { startedAt, lastAccessed: now, completedAt, version, updatedAt: now },
    ]
    return { result: { ...named, completionPercentage: percentage, status, ...times }, last }
  })
}

serveBare(
  {
    async list() {
      const rows = await read((ask) => ask(list, 21))
      return { data: rows.slice(0, 20).map(toCourse), nextCursor: null }
    },
    async get(id) {
      const [row] = await read((ask) => ask(one, id))
      return toCourse(row as Row)
    },
    create: createCourse,
    setProgress,
  },
  Number(port),
  () => void pool.end(),
)
