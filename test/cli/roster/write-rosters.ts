import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestCli } from '../../helpers/cli.ts'
import { csv, published } from './read-roster.ts'

/** A small school; people and courses are numbered by their external ids. */
export interface School {
  readonly users: readonly SchoolUser[]
  readonly courses: readonly { readonly id: string; readonly title: string; readonly term?: string }[]
  readonly enrollments: readonly SchoolEnrollment[]
}

interface SchoolUser {
  readonly id: string
  readonly first: string
  readonly email?: string
  readonly role?: 'student' | 'teacher'
}

interface SchoolEnrollment {
  readonly course: string
  readonly user: string
  readonly role?: 'student' | 'teacher'
}

const addressOf = ({ id, email }: SchoolUser) => email ?? `${id}@school.example`

/** Ada and Bob learn in Biology, and Cleo teaches it; Bob learns in Chemistry, too. */
export const smallSchool: School = {
  users: [
    { id: 'ada', first: 'Ada' },
    { id: 'bob', first: 'Bob' },
    { id: 'cleo', first: 'Cleo', role: 'teacher' },
  ],
  courses: [
    { id: 'bio', title: 'Biology', term: 't1' },
    { id: 'che', title: 'Chemistry', term: 't2' },
  ],
  enrollments: [
    { course: 'bio', user: 'ada' },
    { course: 'bio', user: 'bob' },
    { course: 'bio', user: 'cleo', role: 'teacher' },
    { course: 'che', user: 'bob' },
  ],
}

type Files = Readonly<Record<string, string>>

/** Returns a OneRoster 1.2 package of all records of a school. */
export function oneRoster({ users, courses, enrollments }: School): Files {
  const tables = ['academicSessions', 'orgs', 'classes', 'users', 'roles', 'enrollments']
  const header = published['1.2']
  const terms = [...new Set(courses.flatMap(({ term }) => term ?? []))]
  return {
    'manifest.csv': manifestOf(tables, 'bulk'),
    'orgs.csv': csv(header.orgs, [{ sourcedId: 's1', name: 'School', type: 'school' }]),
    'academicSessions.csv': csv(
      header.academicSessions,
      terms.map((id) => ({
        ...{ sourcedId: id, title: `Term ${id}`, type: 'term' },
        ...{ startDate: '2026-01-01', endDate: '2026-06-30', schoolYear: '2026' },
      })),
    ),
    'classes.csv': csv(
      header.classes,
      courses.map(({ id, title, term = '' }) => ({
        ...{ sourcedId: id, title, classType: 'scheduled', schoolSourcedId: 's1', termSourcedIds: term },
      })),
    ),
    'users.csv': csv(
      header.users,
      users.map((user) => ({
        ...{ sourcedId: user.id, enabledUser: 'true', username: user.id },
        ...{ givenName: user.first, familyName: 'Smith', email: addressOf(user) },
      })),
    ),
    'roles.csv': csv(
      header.roles,
      users.map(({ id, role = 'student' }) => ({
        ...{ sourcedId: `role-${id}`, userSourcedId: id, roleType: 'primary', role, orgSourcedId: 's1' },
      })),
    ),
    'enrollments.csv': csv(
      header.enrollments,
      enrollments.map(({ course, user, role = 'student' }) => ({
        ...{ sourcedId: `${course}-${user}`, classSourcedId: course, schoolSourcedId: 's1' },
        ...{ userSourcedId: user, role },
      })),
    ),
  }
}

/** Returns the manifest of a package whose system is called Springfield. */
export function manifestOf(tables: readonly string[], mode: 'bulk' | 'delta'): string {
  return csv('propertyName,value', [
    { propertyName: 'manifest.version', value: '1.0' },
    { propertyName: 'oneroster.version', value: '1.2' },
    ...tables.map((table) => ({ propertyName: `file.${table}`, value: mode })),
    { propertyName: 'source.systemName', value: 'Springfield' },
  ])
}

/** Returns a Canvas SIS import of a school. */
export function canvas({ users, courses, enrollments }: School): Files {
  return {
    'users.csv': csv(
      'user_id,login_id,first_name,last_name,email,status',
      users.map((user) => ({
        ...{ user_id: user.id, login_id: user.id, first_name: user.first, last_name: 'Smith' },
        ...{ email: addressOf(user), status: 'active' },
      })),
    ),
    'courses.csv': csv(
      'course_id,short_name,long_name,status',
      courses.map(({ id, title }) => ({ course_id: id, short_name: id, long_name: title, status: 'active' })),
    ),
    'enrollments.csv': csv(
      'course_id,user_id,role,status',
      enrollments.map(({ course, user, role = 'student' }) => ({
        ...{ course_id: course, user_id: user, role, status: 'active' },
      })),
    ),
  }
}

/** Returns an upload of users with their courses to Moodle, and one of the courses. */
export function moodle({ users, courses, enrollments }: School): Files {
  const most = Math.max(1, ...users.map(({ id }) => enrollments.filter(({ user }) => user === id).length))
  const numbers = Array.from({ length: most }, (_, index) => index + 1)
  const columns = numbers.flatMap((number) => [`course${number}`, `role${number}`])
  return {
    'courses.csv': csv(
      'shortname,fullname',
      courses.map(({ id, title }) => ({ shortname: id, fullname: title })),
    ),
    'users.csv': csv(
      ['username', 'idnumber', 'firstname', 'lastname', 'email', ...columns].join(','),
      users.map((user) => ({
        ...{ username: user.id, idnumber: user.id, firstname: user.first, lastname: 'Smith' },
        email: addressOf(user),
        ...Object.fromEntries(
          enrollments
            .filter(({ user: id }) => id === user.id)
            .flatMap(({ course, role = 'student' }, index) => [
              [`course${index + 1}`, course],
              [`role${index + 1}`, role],
            ]),
        ),
      })),
    ),
  }
}

/** Writes files into a folder of the working directory, in place of what it had. */
export function put({ cwd }: Pick<TestCli, 'cwd'>, folder: string, files: Files): void {
  rmSync(join(cwd, folder), { recursive: true, force: true })
  mkdirSync(join(cwd, folder))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, folder, name), text)
}
