import { DatabaseSync } from 'node:sqlite'
import { courseColumns as columns, type Row, serveBare, toCourse } from './bare-http.ts'
import { attributes } from './seed.ts'

// Yardstick: node:http and node:sqlite running the statements of the work itself, and nothing else. The benchmark
// starts it with its own database.

const [path = '', port = '0'] = process.argv.slice(2)
const database = new DatabaseSync(path)
database.exec('pragma journal_mode = wal; pragma synchronous = normal; pragma foreign_keys = on')

const list =
  database.prepare(`select ${columns}, c.created_at as cursor_value, c.id as cursor_id from courses c
  order by c.created_at desc, c.id desc limit ?`)
const one = database.prepare(`select ${columns} from courses c where c.id = ?`)
const insert =
  database.prepare(`insert into courses (id, external_id, title, description, difficulty, status, attributes,
  managed_by, version, created_at, updated_at, published_at, archived_at)
  values (?, null, ?, ?, ?, 'draft', ?, null, 1, ?, ?, null, null)`)
const keep =
  database.prepare(`insert into course_versions (course_id, version, attributes, modified_attributes, user_id,
  created_at) values (?, 1, ?, '[]', 'usr_bench', ?)`)

const learner = database.prepare(`select u.id, u.email, u.status from users u where u.id = ?`)
const enrollment =
  database.prepare(`select id, status from enrollments where user_id = ? and course_id = ? and
  role = 'learner'`)
const stored =
  database.prepare(`select percentage, status, started_at, last_accessed, completed_at, version from progress
  where user_id = ? and course_id = ?`)
const record =
  database.prepare(`insert into progress (user_id, course_id, percentage, status, started_at, last_accessed,
  completed_at, risen_at, version, updated_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (user_id, course_id) do update set
    percentage = excluded.percentage, status = excluded.status, last_accessed = excluded.last_accessed,
    completed_at = excluded.completed_at, risen_at = excluded.risen_at, version = excluded.version, updated_at = excluded.updated_at`)
const keepStep =
  database.prepare(`insert into progress_steps (user_id, course_id, version, percentage, status, last_accessed,
  recorded_at) values (?, ?, ?, ?, ?, ?, ?)`)

let made = 0

function listCourses(): Row {
  return { data: (list.all(21) as Row[]).slice(0, 20).map(toCourse), nextCursor: null }
}

function createCourse({ title, description, difficulty }: Row): Row {
  made += 1
  const id = `crs_${Date.now().toString(36)}${made}`
  const now = new Date().toISOString()
  database.exec('begin immediate')
  insert.run(id, String(title), String(description), String(difficulty), attributes, now, now)
  const course = toCourse(one.get(id) as Row)
  keep.run(id, JSON.stringify(course), now)
  database.exec('commit')
  return course
}

/** Records progress of an enrolled learner: looks it up, writes it, and adds a step to its history. */
function setProgress(learnerId: string, { courseId, completionPercentage: percentage }: Row): Row {
  const now = new Date().toISOString()
  database.exec('begin immediate')
  const { email } = learner.get(learnerId) as Row
  const course = toCourse(one.get(String(courseId)) as Row)
  enrollment.get(learnerId, String(courseId))
  const before = stored.get(learnerId, String(courseId)) as Row | undefined
  const version = Number(before?.['version'] ?? 0) + 1
  const status = Number(percentage) >= 100 ? 'completed' : 'in_progress'
  const startedAt = String(before?.['started_at'] ?? now)
  const completedAt = status === 'completed' ? now : null
  const values = [Number(percentage), status, startedAt, now, completedAt, now, version, now] as const
  record.run(learnerId, String(courseId), ...values)
  keepStep.run(learnerId, String(courseId), version, Number(percentage), status, now, now)
  database.exec('commit')
  return {
    learnerId,
    userEmail: email,
    courseId,
    courseTitle: course['title'],
    completionPercentage: percentage,
    status,
    startedAt,
    lastAccessed: now,
    completedAt,
    version,
    updatedAt: now,
  }
}

serveBare(
  { list: listCourses, get: (id) => toCourse(one.get(id) as Row), create: createCourse, setProgress },
  Number(port),
)
