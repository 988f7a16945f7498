package ui_test

import "testing"

func checkPairs(t *testing.T, events any) {}
func checkLossless(t *testing.T, r *run)  {}
