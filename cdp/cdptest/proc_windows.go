package cdptest

import (
	"errors"
	"os/exec"
)

func setGroup(*exec.Cmd) {}

func killGroup(cmd *exec.Cmd) { cmd.Process.Kill() }

func getpgid(int) (int, error) { return 0, errors.New("process groups are a Unix notion") }
