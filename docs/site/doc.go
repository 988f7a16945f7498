// Package site renders the documentation of package docs as web pages.
//
// [Handler] serves the pages below a path; [Write] writes the same pages as files. The pages need no
// script and load only the style sheet and images of the site. The server answers a search; among
// files a script does, over the same index.
package site
