import { DatabaseSync } from 'node:sqlite'
import { type OpenAcademy, openAcademy } from '../../src/server/academy/local-academy.ts'

/** Sends a POST to an academy in this process; returns the response, which must be a success. */
export async function post(
  academy: OpenAcademy,
  path: string,
  body: unknown,
): Promise<Record<string, unknown>> {
  const reply = await academy.transport({
    method: 'POST',
    url: `http://localhost${path}`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = String(reply.body)
  if (reply.status >= 300) throw new Error(`POST ${path}: ${reply.status} ${text}`)
  return JSON.parse(text) as Record<string, unknown>
}

/** Makes an API key with all scopes. */
export async function makeKey(academy: OpenAcademy): Promise<string> {
  const made = await post(academy, '/v1/keys', { name: 'benchmark', scopes: ['read', 'write', 'admin'] })
  return String(made['key'])
}

/** Makes an empty academy in a file; returns a key. */
export async function makeEmptyAcademy(path: string): Promise<string> {
  const academy = await openAcademy({ path })
  const key = await makeKey(academy)
  await academy.close()
  return key
}

const time = '2026-01-01T00:00:00.000Z'

/** Attributes of a plain course, as stored in its row. */
export const attributes = JSON.stringify({
  learningObjectives: [],
  modules: [],
  assessmentCriteria: { passingScore: 70, moveOn: 'Completed', weights: [] },
  adaptiveDifficulty: {
    enabled: false,
    minLevel: null,
    maxLevel: null,
    raiseAtScore: 85,
    lowerAtScore: 50,
    window: 3,
  },
  progressTracking: { enabled: true, completionThreshold: 100 },
  tags: [],
  language: null,
  durationMinutes: null,
})

/** Adds this many enrolments with progress to an academy's file: ten for each learner, in 100 courses. */
export function fillEnrollments(path: string, rows: number): void {
  const database = new DatabaseSync(path)
  database.exec(`
    pragma synchronous = off;
    begin;
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 100)
    insert into courses (id, title, description, difficulty, status, attributes, version, created_at, updated_at, published_at)
    select 'crs_' || i, 'Course ' || i, 'About', 'beginner', 'published', '${attributes}', 1, '${time}', '${time}', '${time}' from n;
    with recursive n(i) as (select 1 union all select i + 1 from n where i < ${rows / 10})
    insert into users (id, external_id, email, email_key, role, status, profile, version, created_at, updated_at)
    select 'usr_' || printf('%09d', i), 'S' || i, 'learner' || i || '@example.org', 'learner' || i || '@example.org',
      'learner', 'active', json_object('firstName', 'First' || i, 'lastName', 'Last, ' || i), 1, '${time}', '${time}' from n;
    with recursive k(j) as (select 0 union all select j + 1 from k where j < 9)
    insert into enrollments (id, course_id, user_id, role, status, enrolled_at, source, version, created_at, updated_at)
    select 'enr_' || u.rowid || '_' || j, 'crs_' || (1 + ((u.rowid + j * 7) % 100)), u.id, 'learner', 'active', '${time}',
      'api', 1, '${time}', '${time}' from users u, k where u.role = 'learner';
    insert into progress (user_id, course_id, percentage, status, started_at, last_accessed, version, updated_at)
    select e.user_id, e.course_id, (e.rowid * 37) % 10001 / 100.0, 'in_progress', '${time}', '2026-01-02T03:04:05.678Z', 1,
      '${time}' from enrollments e;
    commit;
    analyze;
    pragma wal_checkpoint(truncate);`)
  database.close()
}
