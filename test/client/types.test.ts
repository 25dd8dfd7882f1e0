import { expectTypeOf, test } from 'vitest'
import type { Page } from '../../src/client/call.ts'
import { createCaller } from '../../src/client/caller.ts'
import type * as library from '../../src/client/client.ts'
import { createClient } from '../../src/client/client.ts'
import type { StreamedResponse } from '../../src/client/reply.ts'
import type { analytics } from '../../src/contract/analytics.ts'
import { type Course, type CourseUpdate, courses } from '../../src/contract/courses.ts'
import type { HttpResponse } from '../../src/contract/http.ts'
import type { LearnerRow } from '../../src/contract/learner-row.ts'
import type { Operation } from '../../src/contract/operation.ts'

const headers = { 'preference-applied': 'handling=strict', 'x-request-id': 'req_0' }
const reply: HttpResponse = { status: 200, headers, body: '{}' }
const options = { baseUrl: 'https://academy.example', transport: async () => reply }

test('a call takes path parameters, query and body exactly where its operation has them', () => {
  const { request } = createCaller(options)
  request(courses.list)
  request(courses.list, { query: { status: 'draft', limit: 5 } })
  request(courses.get, { params: { courseId: 'crs_1' } })
  request(courses.create, { body: { title: 'X' } })
  request(courses.update, { params: { courseId: 'crs_1' }, body: { description: null }, ifMatch: 3 })
  // @ts-expect-error a title has no default to reset to
  void (() => request(courses.update, { params: { courseId: 'crs_1' }, body: { title: null } }))
  const anything: Operation = courses.list
  request(anything, { params: { any: 'x' }, query: { any: 1 }, body: {} })
  // @ts-expect-error a path parameter is missing
  void (() => request(courses.get))
  // @ts-expect-error a path parameter is misspelt
  void (() => request(courses.get, { params: { course: 'crs_1' } }))
  // @ts-expect-error the body is missing
  void (() => request(courses.create, {}))
  // @ts-expect-error a query parameter is unknown
  void (() => request(courses.list, { query: { colour: 'red' } }))
  // @ts-expect-error there is no body
  void (() => request(courses.list, { body: {} }))
})

test('answers and pages have the types of the contract', () => {
  const { call, pages } = createCaller(options)
  expectTypeOf(call(courses.update, { params: { courseId: 'a' }, body: {} }))
    .resolves.toHaveProperty('data')
    .toEqualTypeOf<CourseUpdate>()
  expectTypeOf(pages(courses.list)).toEqualTypeOf<AsyncGenerator<Page<typeof courses.list>>>()
  expectTypeOf<Page<typeof analytics.learners>['data']>().toEqualTypeOf<readonly LearnerRow[]>()
})

test('methods of the client take the path parameters in order, then body or query, then options', () => {
  const client = createClient(options)
  expectTypeOf(client.courses.get).parameter(0).toEqualTypeOf<string>()
  expectTypeOf(client.courses.get).returns.resolves.toEqualTypeOf<Course>()
  expectTypeOf(client.courses.diff).parameter(1).toEqualTypeOf<string>()
  expectTypeOf(client.courses.list.all).returns.toEqualTypeOf<AsyncGenerator<Course>>()
  expectTypeOf(client.analytics.learners.stream).returns.resolves.toEqualTypeOf<StreamedResponse>()
  // @ts-expect-error a single record has no pages
  expectTypeOf(client.courses.get.all).toBeFunction
})

test('a query that chooses from words takes only these', () => {
  const { users, courses, progress } = createClient(options)
  expectTypeOf(users.all).toEqualTypeOf(users.list.all)
  expectTypeOf(progress.all).returns.resolves.toHaveProperty('nextCursor')
  void (() => users.list({ role: 'student,admin', status: 'active', limit: 5 }))
  // @ts-expect-error no role has this name
  void (() => users.list({ role: 'boss' }))
  // @ts-expect-error a list cannot be sorted by this
  void (() => courses.all({ sort: 'colour' }))
})

test('records and requests have types of their names', () => {
  const client = createClient(options)
  expectTypeOf(client.courses.create).parameter(0).toEqualTypeOf<library.CourseInput>()
  expectTypeOf(client.users.create).parameter(0).toEqualTypeOf<library.UserInput>()
  expectTypeOf(client.users.get).returns.resolves.toEqualTypeOf<library.User>()
  const query = { include_total: true, limit: 5 }
  expectTypeOf(client.users.list).toBeCallableWith(query)
})
